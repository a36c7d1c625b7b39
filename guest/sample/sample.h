/* What the samples of all triggers share: the slot's content, and the grid in time.  Context: any.
 */
#ifndef GUEST_SAMPLE_SAMPLE_H
#define GUEST_SAMPLE_SAMPLE_H

#include "drivers/pmu/pmu.h"
#include "guest/base/run.h"
#include "guest/cpu/cpu.h"
#include "guest/sample/sampling.h"
#include "lib/trace/trace_slot.h"
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

/* Stores what reading took since TSC `start`, the sample's flags, and kind 0. */
static inline __attribute__((always_inline)) void
sample_store_cost(struct trace_slot *slot, const uint64_t *start, uint32_t flags)
{
    uint32_t cost = x86_rdtsc_low() - (uint32_t)*start;

    if (__builtin_expect(cost > UINT16_MAX, 0)) {
        __asm__ volatile(""); /* a jump, which costs less than a choice */
        cost = UINT16_MAX;
    }
    pmu_store32((uint32_t *)&slot->cost_ticks, cost | flags << 16);
}

static inline __attribute__((always_inline)) void
sample_store_head(struct trace_slot *slot, const struct cpu *cpu, uint64_t now, uint64_t ip)
{
    pmu_store(&slot->time, now);
    pmu_store(&slot->ip, ip);
    pmu_store32(&slot->tid, cpu->tid);
}

/* Fills a slot with a sample and its HR_SAMPLE_* flags.  Every store bypasses the caches; the
 * caller calls pmu_store_fence.  `start` points to the TSC at which the sample began and is read
 * only at the end; `reader` is sampling.reader or reader_others. */
static inline __attribute__((always_inline)) void
sample_fill(struct trace_slot *slot, struct cpu *cpu, uint64_t now, const uint64_t *start,
            uint64_t ip, uint32_t flags, pmu_reader *const *reader)
{
    sample_store_head(slot, cpu, now, ip);
    if (__builtin_expect(sampling.counters_rest, 0) && !sample_counters_due(cpu)) {
        /* the encoder repeats those of the sample before */
        sample_store_cost(slot, start, flags | HR_SAMPLE_NO_COUNTERS);
        return;
    }
    pmu_read_by(reader, slot->counters);
    sample_store_cost(slot, start, flags);
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
