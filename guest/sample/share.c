/* Keeps the program's share of the time: see guest/sample/share.h. */
#include "guest/sample/share.h"
#include "guest/sample/sampling.h"

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

void share_skip(struct cpu *cpu, uint64_t count, uint64_t last)
{
    cpu->share.skipped_last = last;
    __atomic_store_n(&cpu->share.skipped, cpu->share.skipped + count, __ATOMIC_RELEASE);
}

void share_leave_out(struct cpu *cpu)
{
    uint64_t early = cpu->share.not_before - cpu->trigger.next_due;
    uint64_t points = (early - 1) / sampling.interval_ticks + 1;

    cpu->trigger.next_due += points * sampling.interval_ticks;
    share_skip(cpu, points, cpu->trigger.next_due - sampling.interval_ticks);
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
