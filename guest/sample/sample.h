/* What every trigger's sample shares: the slot's content, and the grid in time.  Any context. */
#ifndef GUEST_SAMPLE_SAMPLE_H
#define GUEST_SAMPLE_SAMPLE_H

#include "drivers/pmu/pmu.h"
#include "guest/base/run.h"
#include "guest/cpu/cpu.h"
#include "guest/sample/sampling.h"
#include "lib/trace_slot.h"
#include "lib/x86.h"

/* --counters-every: is it this sample's turn?  The first one's, and every Nth's after it. */
static inline bool sample_counters_due(struct cpu *cpu)
{
    if (cpu->trigger.counters_wait) {
        cpu->trigger.counters_wait--;
        return false;
    }
    cpu->trigger.counters_wait = sampling.counters_rest;
    return true;
}

/* Fills a slot with a sample, HR_SAMPLE_* flags and all: every store goes past the caches, and
 * pmu_store_fence is up to the caller.  What is known before the counters are read is stored
 * before, so that it need not outlast the call.  `start`: the clock when the sample began, which
 * stays in memory meanwhile; `read`: run.pmu's read or read_others. */
static inline __attribute__((always_inline)) void
sample_fill(struct trace_slot *slot, struct cpu *cpu, uint64_t now, const uint64_t *start,
            uint64_t ip, uint32_t flags, pmu_read_function *read)
{
    pmu_store(&slot->time, now);
    pmu_store(&slot->ip, ip);
    pmu_store32(&slot->tid, cpu->tid);
    if (__builtin_expect(sampling.counters_rest, 0) && !sample_counters_due(cpu))
        flags |= HR_SAMPLE_NO_COUNTERS; /* the encoder repeats those of the sample before */
    else
        read(&sampling.session, cpu->clock.user_ticks, slot->counters);
    uint32_t cost = x86_rdtsc_low() - (uint32_t)*start;
    if (__builtin_expect(cost > UINT16_MAX, 0))
        cost = UINT16_MAX;
    pmu_store32((uint32_t *)&slot->cost_ticks, cost | flags << 16); /* and flags, and kind 0 */
}

/* The first grid point after both `due`, which is one, and `now`. */
static inline uint64_t sample_next_due(uint64_t due, uint64_t now)
{
    due += sampling.interval_ticks;
    if (__builtin_expect((int64_t)(now - due) >= 0, 0))
        due += ((now - due) / sampling.interval_ticks + 1) * sampling.interval_ticks;
    return due;
}

#endif
