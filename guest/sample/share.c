/* Keeps the program's share of the time: see guest/sample/share.h. */
#include "guest/sample/share.h"
#include "guest/sample/sampling.h"

#include "guest/cpu/clock.h"

#define RISE_SHIFT 5 /* the seen cost rises by a 32nd with each sample that took longer, */
#define FALL_SHIFT 7 /* and falls by a 128th otherwise: four of five samples take less */
#define STARVED 4u /* after the last look at the clock: less than this times the seen cost */
#define PERIODS_MAX (1ull << 24)

void share_set(uint64_t seen_ticks, uint64_t whole_ticks, uint32_t max_overhead)
{
    uint64_t seen = seen_ticks ? seen_ticks : 1;

    if (whole_ticks < seen)
        whole_ticks = seen;
    sampling.share_factor = whole_ticks * SHARE_ONE / seen * 100 / max_overhead - SHARE_ONE;
    sampling.spacing_ticks = whole_ticks * 100 / max_overhead;
    for (uint32_t i = 0; i < CPUS_MAX; i++)
        cpus[i].share = (struct share){.seen_ticks = seen};
}

uint64_t share_rest(const struct cpu *cpu)
{
    return cpu->share.seen_ticks * sampling.share_factor / SHARE_ONE;
}

/* Follows a high value of the seen costs, in steps so small that single long samples hardly count.
 */
static void share_note(struct share *share, uint64_t ticks)
{
    uint64_t seen = share->seen_ticks;

    share->last_ticks = ticks;
    share->seen_ticks =
        ticks > seen ? seen + (seen >> RISE_SHIFT) + 1 : seen - (seen >> FALL_SHIFT);
}

void share_skip(struct cpu *cpu, uint64_t count, uint64_t last)
{
    cpu->share.skipped_last = last;
    __atomic_store_n(&cpu->share.skipped, cpu->share.skipped + count, __ATOMIC_RELEASE);
}

/* True if the timer expired before the last sample's handler had returned to the program, which may
 * not have executed anything since: then costs must have risen faster than the steps can follow. */
static bool starved(const struct cpu *cpu, uint64_t due)
{
    const struct share *share = &cpu->share;

    return (int64_t)(due - cpu->clock.exit_ticks) < 0 &&
           cpu->clock.exit_ticks - share->returned < STARVED * share->seen_ticks;
}

void share_took(struct cpu *cpu, uint64_t due)
{
    struct share *share = &cpu->share;
    uint64_t now = x86_rdtsc();

    if (!cpu->clock.stop_mask) {
        share->late_ticks = cpu->clock.enter_ticks - due;
        if (starved(cpu, due))
            share->seen_ticks *= 2;
        share_note(share, now - cpu->clock.enter_ticks);
    }
    share->returned = now;
    now = cpu->clock.stop_mask ? clock_entered(cpu) : now;
    __atomic_store_n(&share->not_before, now + share_rest(cpu), __ATOMIC_RELEASE);
}

void share_next_due(struct cpu *cpu)
{
    int64_t early = (int64_t)(cpu->share.not_before - cpu->trigger.next_due);

    if (cpu->trigger.next_due < CPU_NEVER && early > 0) {
        uint64_t points = ((uint64_t)early - 1) / sampling.interval_ticks + 1;

        cpu->trigger.next_due += points * sampling.interval_ticks;
        share_skip(cpu, points, cpu->trigger.next_due - sampling.interval_ticks);
    }
    cpu->share.due = cpu->trigger.next_due;
}

uint64_t share_handled(struct cpu *cpu, uint64_t start)
{
    struct share *share = &cpu->share;
    uint64_t now = x86_rdtsc();
    uint64_t program = start - share->returned; /* and its way into the kernel */

    share_note(share, now - start);
    share->returned = now;
    return program;
}

uint64_t share_periods(const struct cpu *cpu, uint64_t program_ticks, uint64_t periods)
{
    uint64_t rest = share_rest(cpu), next;

    if (program_ticks >= rest && periods <= 1)
        return 1;
    next = (periods * rest + program_ticks) / (program_ticks + 1);
    return next < 1 ? 1 : next > PERIODS_MAX ? PERIODS_MAX : next;
}

bool share_may_ask(struct cpu *cpu, uint64_t due)
{
    if ((int64_t)(due - __atomic_load_n(&cpu->share.not_before, __ATOMIC_ACQUIRE)) >= 0)
        return true;
    share_skip(cpu, 1, due);
    return false;
}
