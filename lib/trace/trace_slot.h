/* One entry of a sampling ring, which the workload CPU stores and the encoder reads. */
#pragma once

#include <stdbool.h>
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

/* Returns the size of a slot without a call stack.  Values are events and what follows them: the
 * arguments of hits where there are probes, the access of a sample where samples are precise
 * (TRACE_SLOT_ACCESS, or with registers TRACE_SLOT_REGISTERS of them), or the more of both. */
static inline uint32_t trace_slot_bytes(uint32_t value_count)
{
    if (value_count <= TRACE_SLOT_SMALL_EVENTS)
        return 64;
    return value_count <= HR_EVENTS_MAX ? 128 : (32 + 8 * value_count + 63) & ~63u;
}

/* A precise sample's counters are followed by its struct hr_access (lib/trace/trace_accesses.h),
 * without registers if the trace has none. */
#define TRACE_SLOT_ACCESS 3u
#define TRACE_SLOT_REGISTERS (TRACE_SLOT_ACCESS + HR_ACCESS_REGISTERS)

/* Returns the values of a slot: the events, and after them the arguments of a hit or an access. */
static inline uint32_t trace_slot_values(uint32_t event_count, uint32_t argument_count,
                                         bool accesses, bool with_registers)
{
    uint32_t access = !accesses ? 0 : with_registers ? TRACE_SLOT_REGISTERS : TRACE_SLOT_ACCESS;

    return event_count + (argument_count > access ? argument_count : access);
}

/* A hit of a probe has kind HR_REC_PROBES.  `ip` is the stack pointer; the counters are followed by
 * the arguments, beyond the struct if there are more than HR_EVENTS_MAX values.  `cost_ticks` and
 * bits 2-7 of `flags` are the point's number, bits 0-1 are HR_PROBE_*. */
static inline void trace_slot_set_point(struct trace_slot *slot, uint32_t point, uint32_t what)
{
    slot->cost_ticks = (uint16_t)point;
    slot->flags = (uint8_t)((point >> 16) << 2 | what);
}

/* Returns 4 * the point's number + HR_PROBE_*. */
static inline uint32_t trace_slot_point(const struct trace_slot *slot)
{
    return ((uint32_t)(slot->flags >> 2) << 16 | slot->cost_ticks) << 2 | (slot->flags & 3);
}

/* Follows a slot's trace_slot_bytes() where samples have call stacks.  The slot then grows by what
 * the limit of HR_META_STACKS needs, up to a power of two.
 */
struct trace_slot_stack {
    uint32_t count; /* FP: addresses; DWARF: bytes of stack; 0 in slots of other records */
    uint32_t root; /* enum hr_stack_root; DWARF: WHOLE unless nothing could be read */
    uint64_t words[]; /* FP: return addresses, innermost first.  DWARF: HR_STACK_REGISTERS
                         registers, then the stack's bytes from rsp on */
};

_Static_assert(sizeof(struct trace_slot) == 128, "trace_slot");
_Static_assert(offsetof(struct trace_slot, counters[HR_EVENTS_MAX + HR_PROBE_ARGUMENTS_MAX]) <= 192,
               "the largest slot of a hit");
_Static_assert(HR_PROBE_POINTS_MAX <= 1u << 22, "a slot holds a point's number");
_Static_assert(offsetof(struct trace_slot, counters[TRACE_SLOT_SMALL_EVENTS]) == 64, "small slot");
