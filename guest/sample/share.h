/* Keeps a share of the time for the program, whatever sampling costs.
 *
 * After each sample the program gets some time before the next one may come: the sample's cost as
 * the kernel sees it, times a factor.  The factor follows from the cost that the kernel does not
 * see (exits of a virtual machine before and after the handler), which calibration finds, and from
 * --max-overhead, the part of the time that sampling may take.  The cost is measured throughout the
 * run, so that the program keeps its share even if the machine becomes slower.
 *
 * Grid points skipped for that reason are counted, and the trace has them (HR_REC_SKIPPED,
 * HR_REC_SHARE).  In virtual time with one CPU, samples cost the program nothing:
 * sampling.share_factor is 0, and none of this code runs.
 *
 * Context: interrupts off or NMI, on the CPU itself, unless a function says otherwise.
 */
#ifndef GUEST_SAMPLE_SHARE_H
#define GUEST_SAMPLE_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/cpu/cpu.h"

#define SHARE_ONE (1ull << 16) /* sampling.share_factor is a fixed-point number: 1.0 */

/* Calibration: of a sample that costs `whole_ticks`, the kernel sees `seen_ticks`.  Sets the factor
 * for `max_overhead` percent, and the initial state of all CPUs. */
void share_set(uint64_t seen_ticks, uint64_t whole_ticks, uint32_t max_overhead);

/* Shortly after an entry from ring 3: true if the program itself, not the kernel for it, was
 * running at `due`.  Always false in shared mode, where sampling stops the clock. */
static inline bool share_was_running(const struct cpu *cpu, uint64_t due)
{
    return !cpu->clock.stop_mask && (int64_t)(due - cpu->clock.exit_ticks) >= 0;
}

/* Returns the ticks that must pass after a sample, from the costs seen last. */
uint64_t share_rest(const struct cpu *cpu);

/* After a sample that was due at `due`, taken by the timer or because another CPU asked: notes its
 * seen cost, and when the next one may come. */
void share_took(struct cpu *cpu, uint64_t due);

/* Moves trigger.next_due to the first grid point that leaves the program its share, and counts the
 * skipped ones.  Called before the timer is armed. */
void share_next_due(struct cpu *cpu);

/* Counts `count` skipped grid points, of which `last` is the last. */
void share_skip(struct cpu *cpu, uint64_t count, uint64_t last);

/* Overflow sampling: the handler that began at TSC `start` is about to end.  Returns the ticks that
 * the program had between the last handler and this one. */
uint64_t share_handled(struct cpu *cpu, uint64_t start);

/* Returns for how many periods to arm the counter: the fewest that leave the program its share, at
 * least 1.  The last interval of `periods` periods left it `program_ticks`. */
uint64_t share_periods(const struct cpu *cpu, uint64_t program_ticks, uint64_t periods);

/* The observer, on its own CPU: returns whether `cpu` may be asked for grid point `due`; if not,
 * counts it as skipped. */
bool share_may_ask(struct cpu *cpu, uint64_t due);

#endif
