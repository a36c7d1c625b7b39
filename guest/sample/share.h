/* The share of time that the program keeps, whatever the sampling costs.
 *
 * After each sample the program gets time before the next one may come.  How long that is follows
 * from what samples cost as seen from inside the kernel, times a factor: calibration finds how
 * much of a sample's cost the kernel does not see (exits of a virtual machine before the handler
 * and after it), and --max-overhead says which part of the time sampling may take.  What is seen is
 * followed during the run, so that a machine that becomes slower leaves the program its share too.
 *
 * Points at which no sample is taken for that reason are counted, and are part of the trace
 * (HR_REC_SKIPPED, HR_REC_SHARE).  In virtual time with one CPU samples cost the program nothing:
 * there sampling.share_factor is 0, and nothing of this runs.
 *
 * Context: interrupts off or NMI, on the CPU itself, unless a function says otherwise.
 */
#ifndef GUEST_SAMPLE_SHARE_H
#define GUEST_SAMPLE_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/cpu/cpu.h"

#define SHARE_ONE (1ull << 16) /* sampling.share_factor is a fixed-point number: 1.0 */

/* Calibration: a sample of which the kernel sees `seen_ticks` costs `whole_ticks`.  Sets the factor
 * for `max_overhead` percent, and how all CPUs begin: nothing is skipped yet. */
void share_set(uint64_t seen_ticks, uint64_t whole_ticks, uint32_t max_overhead);

/* Shortly after an entry from ring 3: was the program running at `due`, and not the kernel for it?
 * Always false in shared mode, where the clock stands still for the sampler. */
static inline bool share_was_running(const struct cpu *cpu, uint64_t due)
{
    return !cpu->clock.stop_mask && (int64_t)(due - cpu->clock.exit_ticks) >= 0;
}

/* The ticks that must pass after a sample, from what was seen last. */
uint64_t share_rest(const struct cpu *cpu);

/* A sample that was due at `due` has been taken: by the timer or because another CPU asked.
 * Notes what was seen of its cost, and from when on the next one may come. */
void share_took(struct cpu *cpu, uint64_t due);

/* Moves cpu->next_due to the first grid point that leaves the program its share; those that are
 * left out are counted.  Before the timer is armed. */
void share_next_due(struct cpu *cpu);

/* `count` points up to `last` are left out. */
void share_skip(struct cpu *cpu, uint64_t count, uint64_t last);

/* Overflow sampling.  The handler that began at TSC `start` is about to end; the program had the
 * returned ticks between the last one and this one. */
uint64_t share_handled(struct cpu *cpu, uint64_t start);

/* By how many periods the counter is to be armed after one of `periods` that left the program
 * `program_ticks`: the fewest that leave it its share; at least 1. */
uint64_t share_periods(const struct cpu *cpu, uint64_t program_ticks, uint64_t periods);

/* The observer, on its own CPU: may that CPU be asked for grid point `due`?  Counts those that it
 * may not. */
bool share_may_ask(struct cpu *cpu, uint64_t due);

#endif
