/* Encodes the call stacks of a writer's samples; docs/format.md, "Call stacks".  Freestanding; all
 * memory is the caller's.
 *
 * For trace_writer.c, and for its callers the size of what they give to trace_writer_stacks().  The
 * records of a run's stacks are kept here until the run is closed.
 */
#ifndef LIB_TRACE_STACKS_H
#define LIB_TRACE_STACKS_H

#include <stddef.h>

#include "include/hr_format.h"
#include "lib/trace_slot.h"

#define TRACE_STACKS_CHUNK_BYTES_MIN 65536u /* buffer of a writer whose samples have stacks */
/* A larger chunk says less often what it has to say once. */
#define TRACE_STACKS_CHUNK_BYTES (256u << 10)
#define TRACE_STACKS_NO_ROOM UINT32_MAX

struct trace_stacks; /* of either kind */

/* Bytes of memory that stacks of a kind need, to be aligned to 8. */
size_t trace_stacks_bytes(enum hr_stack_kind kind);

/* Makes stacks of memory. */
struct trace_stacks *trace_stacks_init(void *memory, enum hr_stack_kind kind);

/* A chunk begins. */
void trace_stacks_begin(struct trace_stacks *s);

/* How many bytes the records of the open run would have at most with one more sample;
 * TRACE_STACKS_NO_ROOM when it has to be closed first, or, where it is closed, the chunk. */
uint32_t trace_stacks_bound(const struct trace_stacks *s, const struct trace_slot_stack *stack);

/* The stack of a sample that was added to the open run, after trace_stacks_bound allowed it. */
void trace_stacks_add(struct trace_stacks *s, const struct trace_slot_stack *stack);

/* The run is closed: writes its records; returns what follows.  Adds to *records. */
uint8_t *trace_stacks_flush(struct trace_stacks *s, uint8_t *at, uint32_t *records);

#endif
