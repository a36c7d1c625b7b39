/* One entry of a sampling ring, which the workload CPU stores and the encoder reads. */
#ifndef LIB_TRACE_SLOT_H
#define LIB_TRACE_SLOT_H

#include <stddef.h>
#include <stdint.h>

#include "include/hr_format.h"

/* kind is 0 for a sample.  For any other record it is the enum hr_record_type, and the words hold
 * the fields of that record as guest/trace/trace.c assigns them.  A ring of up to
 * TRACE_SLOT_SMALL_EVENTS events uses only the first 64 bytes.
 */
#define TRACE_SLOT_SMALL_EVENTS 5

struct trace_slot {
    uint64_t time; /* ticks, first reading of the clock */
    uint64_t ip; /* linear address of the next instruction */
    uint32_t tid;
    uint16_t cost_ticks; /* second reading of the clock minus the first; saturates */
    uint8_t flags; /* HR_SAMPLE_* */
    uint8_t kind;
    uint64_t counters[HR_EVENTS_MAX]; /* since the program's start */
};

/* Returns the size of a slot without a call stack. */
static inline uint32_t trace_slot_bytes(uint32_t event_count)
{
    return event_count <= TRACE_SLOT_SMALL_EVENTS ? 64 : 128;
}

/* Follows a slot's 64 or 128 bytes where samples have call stacks.  The slot then grows by what the
 * limit of HR_META_STACKS needs, up to a power of two.
 */
struct trace_slot_stack {
    uint32_t count; /* FP: addresses; DWARF: bytes of stack; 0 in slots of other records */
    uint32_t root; /* enum hr_stack_root; DWARF: WHOLE unless nothing could be read */
    uint64_t words[]; /* FP: return addresses, innermost first.  DWARF: HR_STACK_REGISTERS
                         registers, then the stack's bytes from rsp on */
};

_Static_assert(sizeof(struct trace_slot) == 128, "trace_slot");
_Static_assert(offsetof(struct trace_slot, counters[TRACE_SLOT_SMALL_EVENTS]) == 64, "small slot");

#endif
