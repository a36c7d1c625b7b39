/* Which way the next overflow samples take: see guest/sample/overflow.h. */
#include "drivers/apic/apic.h"
#include "drivers/pmu/pmu_overflow.h"
#include "guest/base/run.h"
#include "guest/sample/overflow.h"
#include "guest/sample/ring.h"
#include "guest/sample/stack.h"

_Static_assert(offsetof(struct ring, head) == RING_HEAD &&
                   offsetof(struct ring, reserved) == RING_RESERVED &&
                   offsetof(struct pmu_overflow, counter_msr) == PMU_COUNTER_MSR &&
                   offsetof(struct pmu_overflow, counter) == PMU_COUNTER &&
                   offsetof(struct pmu_overflow, clear_msr) == PMU_CLEAR_MSR &&
                   offsetof(struct pmu_overflow, cleared) == PMU_CLEARED &&
                   offsetof(struct pmu_overflow, preset) == PMU_PRESET,
               "cpu_offsets.h");

/* The brief way reads the counter by RDPMC and takes it to have overflowed when its upper half is
 * 0. */
static bool may_be_brief(const struct cpu *cpu)
{
    return cpu->overflow.way != OVERFLOW_LONG && pmu_overflow.counter_mask >> 32 &&
           run.pmu->reader != NULL;
}

void overflow_find_room(struct cpu *cpu)
{
    const struct ring *ring = cpu->ring;
    bool room = may_be_brief(cpu) && !ring->lost_count && ring->limit > OVERFLOW_SLOTS;

    cpu->brief.room = room ? ring->limit - OVERFLOW_SLOTS : 0;
}

static void be_brief(struct cpu *cpu)
{
    const struct ring *ring = cpu->ring;
    struct cpu_brief *brief = &cpu->brief;

    brief->mask = ring->mask;
    brief->slot_bytes = 1ull << ring->slot_shift;
    brief->counters = (uint64_t)ring->slots + offsetof(struct trace_slot, counters);
    brief->stack = stack_offset + STACK_HEAD - offsetof(struct trace_slot, counters);
    brief->share_factor = sampling.share_factor;
    brief->reader = sampling.reader_others;
    brief->unmask = !sampling.pmi_masks      ? &brief->masked
                    : apic.registers == NULL ? NULL
                                             : apic.registers + APIC_LVT_PMI / 4;
    overflow_find_room(cpu); /* last: an NMI in ring 3 comes after it */
}

void overflow_find_way(struct cpu *cpu)
{
    if (!cpu->trigger.paused && cpu->overflow.period == sampling.session.period)
        cpu->overflow.way = pmu_overflow.plain  ? OVERFLOW_PLAIN
                            : pmu_overflow.bare ? OVERFLOW_BARE
                                                : OVERFLOW_LONG;
    if (!cpu->clock.stop_mask)
        be_brief(cpu);
}
