/* What the samples of all triggers share: the slot's content, and the grid in time.  Context: any.
 */
#ifndef GUEST_SAMPLE_SAMPLE_H
#define GUEST_SAMPLE_SAMPLE_H

#include "drivers/pmu/pmu.h"
#include "guest/base/run.h"
#include "guest/cpu/cpu.h"
#include "guest/sample/sampling.h"
#include "lib/trace_slot.h"
#include "lib/x86.h"

/* --counters-every N: true if this sample reads the counters, as the first and every Nth after it
 * do. */
static inline bool sample_counters_due(struct cpu *cpu)
{
    if (cpu->trigger.counters_wait) {
        cpu->trigger.counters_wait--;
        return false;
    }
    cpu->trigger.counters_wait = sampling.counters_rest;
    return true;
}

/* Fills a slot with a sample and its HR_SAMPLE_* flags.  Every store bypasses the caches; the
 * caller calls pmu_store_fence.  Values known before the counters are read are stored first, so
 * that they need no register across the call.  `start` points to the TSC at which the sample began
 * and is read only at the end; `read` is run.pmu's read or read_others. */
static inline __attribute__((always_inline)) void
sample_fill(struct trace_slot *slot, struct cpu *cpu, uint64_t now, const uint64_t *start,
            uint64_t ip, uint32_t flags, pmu_read_function *read)
{
    uint32_t cost;

    pmu_store(&slot->time, now);
    pmu_store(&slot->ip, ip);
    pmu_store32(&slot->tid, cpu->tid);
    if (__builtin_expect(sampling.counters_rest, 0) && !sample_counters_due(cpu))
        flags |= HR_SAMPLE_NO_COUNTERS; /* the encoder repeats those of the sample before */
    else
        read(&sampling.session, cpu->clock.user_ticks, slot->counters);
    cost = x86_rdtsc_low() - (uint32_t)*start;
    if (__builtin_expect(cost > UINT16_MAX, 0))
        cost = UINT16_MAX;
    pmu_store32((uint32_t *)&slot->cost_ticks, cost | flags << 16); /* and flags, and kind 0 */
}

/* Returns the first grid point after both `due`, a grid point itself, and `now`. */
static inline uint64_t sample_next_due(uint64_t due, uint64_t now)
{
    due += sampling.interval_ticks;
    if (__builtin_expect((int64_t)(now - due) >= 0, 0))
        due += ((now - due) / sampling.interval_ticks + 1) * sampling.interval_ticks;
    return due;
}

#endif
