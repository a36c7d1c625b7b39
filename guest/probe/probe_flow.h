/* Jumps and calls that have a probe: the kernel does them in place of the processor. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "guest/base/frame.h"
#include "include/run_probes.h"

struct cpu;
struct probe_place;

/* Does everything that the instruction does except the jump, and sets *to to where it leads.
 * Returns false if it faults: then the frame is that of its page fault.  Context: exception of
 * ring 3. */
bool probe_flow_target(struct cpu *cpu, struct trap_frame *frame, const struct probe_place *place,
                       uint64_t *to);

/* Returns whether a jump that goes so many bytes from its start leaves the function. */
static inline bool probe_flow_leaves(const struct run_probe_point *point, uint64_t bytes)
{
    return (int64_t)bytes < point->inside_start || (int64_t)bytes >= point->inside_end;
}
