/* Encodes the call stacks of a writer's samples; docs/format.md, "Call stacks".  Freestanding; all
 * memory is the caller's.
 *
 * trace_writer.c uses this; its callers need only the size of the memory for trace_writer_stacks().
 * The records of a run's stacks are kept here until the run is closed.
 */
#pragma once

#include <stddef.h>

#include "include/hr_format.h"
#include "lib/trace/trace_slot.h"

#define TRACE_STACKS_CHUNK_BYTES_MIN 65536u /* smallest buffer for samples with stacks */
/* Usual buffer: a larger chunk repeats less. */
#define TRACE_STACKS_CHUNK_BYTES (256u << 10)
#define TRACE_STACKS_NO_ROOM UINT32_MAX

struct trace_stacks; /* of either kind */

/* Returns the bytes of memory that stacks of a kind need, to be aligned to 8. */
size_t trace_stacks_bytes(enum hr_stack_kind kind);

/* Initialises `memory` for stacks of a kind. */
struct trace_stacks *trace_stacks_init(void *memory, enum hr_stack_kind kind);

/* Starts a chunk. */
void trace_stacks_begin(struct trace_stacks *s);

/* Returns an upper bound of the bytes that the records of the open run need with one more sample.
 * Returns TRACE_STACKS_NO_ROOM if the run must be closed first or, with no run open, the chunk. */
uint32_t trace_stacks_bound(const struct trace_stacks *s, const struct trace_slot_stack *stack);

/* Adds the stack of a sample of the open run, after trace_stacks_bound allowed it. */
void trace_stacks_add(struct trace_stacks *s, const struct trace_slot_stack *stack);

/* Writes the records of the run that is being closed, and adds their number to *records.  Returns
 * the end of what was written. */
uint8_t *trace_stacks_flush(struct trace_stacks *s, uint8_t *at, uint32_t *records);
