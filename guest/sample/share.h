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

#include "guest/cpu/clock.h"
#include "guest/cpu/cpu.h"
#include "guest/sample/sampling.h"

#define SHARE_ONE (1ull << SHARE_SHIFT) /* sampling.share_factor is a fixed-point number: 1.0 */

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
static inline uint64_t share_rest(const struct cpu *cpu)
{
    return cpu->share.seen_ticks * sampling.share_factor / SHARE_ONE;
}

/* Follows a high value of the seen costs, in steps so small that single long samples hardly count.
 * It rises by a 32nd with each sample that took longer, and falls by a 128th otherwise: four of
 * five samples take less. */
static inline void share_note(struct share *share, uint64_t ticks)
{
    uint64_t seen = share->seen_ticks;

    share->last_ticks = ticks;
    share->seen_ticks = __builtin_expect(ticks > seen, 0) ? seen + (seen >> SHARE_RISE_SHIFT) + 1
                                                          : seen - (seen >> SHARE_FALL_SHIFT);
}

/* After the last look at the clock: less than this times the seen cost. */
#define SHARE_STARVED 4u

/* True if the timer expired before the last sample's handler had returned to the program, which may
 * not have executed anything since: then costs must have risen faster than the steps can follow. */
static inline bool share_starved(const struct cpu *cpu, uint64_t due)
{
    const struct share *share = &cpu->share;

    return __builtin_expect((int64_t)(due - cpu->clock.exit_ticks) < 0, 0) &&
           cpu->clock.exit_ticks - share->returned < SHARE_STARVED * share->seen_ticks;
}

/* After a sample that was due at `due`, taken by the timer or because another CPU asked: notes its
 * seen cost, and when the next one may come.  `stopped`: the workload clock stands. */
static inline __attribute__((always_inline)) void share_took(struct cpu *cpu, uint64_t due,
                                                             bool stopped)
{
    struct share *share = &cpu->share;
    uint64_t now = x86_rdtsc();

    if (!stopped) {
        share->late_ticks = cpu->clock.enter_ticks - due;
        if (share_starved(cpu, due))
            share->seen_ticks *= 2;
        share_note(share, now - cpu->clock.enter_ticks);
    }
    share->returned = now;
    now = stopped ? clock_entered(cpu) : now;
    __atomic_store_n(&share->not_before, now + share_rest(cpu), __ATOMIC_RELEASE);
}

/* trigger.next_due is too early for the program's share: moves it to the first grid point that is
 * not, and counts the skipped ones. */
void share_leave_out(struct cpu *cpu);

/* Sees to trigger.next_due before the timer is armed. */
static inline void share_next_due(struct cpu *cpu)
{
    if (cpu->trigger.next_due < CPU_NEVER &&
        __builtin_expect((int64_t)(cpu->share.not_before - cpu->trigger.next_due) > 0, 0))
        share_leave_out(cpu);
    cpu->share.due = cpu->trigger.next_due;
}

/* Counts `count` skipped grid points, of which `last` is the last. */
void share_skip(struct cpu *cpu, uint64_t count, uint64_t last);

/* Overflow sampling: the handler that began at TSC `start` is about to end.  Returns the ticks that
 * the program had between the last handler and this one. */
static inline uint64_t share_handled(struct cpu *cpu, uint64_t start)
{
    struct share *share = &cpu->share;
    uint64_t now = x86_rdtsc();
    uint64_t program = start - share->returned; /* and its way into the kernel */

    share_note(share, now - start);
    share->returned = now;
    return program;
}

/* Returns for how many periods to arm the counter: the fewest that leave the program its share, at
 * least 1.  The last interval of `periods` periods left it `program_ticks`. */
uint64_t share_periods(const struct cpu *cpu, uint64_t program_ticks, uint64_t periods);

/* The observer, on its own CPU: returns whether `cpu` may be asked for grid point `due`; if not,
 * counts it as skipped. */
bool share_may_ask(struct cpu *cpu, uint64_t due);

#endif
