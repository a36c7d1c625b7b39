/* Reads the cache monitor.  Intel SDM volume 3B, "Monitoring Resource Identifier (RMID)" and
 * "Reporting Monitored Data"; volume 2, CPUID leaf 0FH.
 */
#include "drivers/pmu/pmu_rdt.h"

#include <errno.h>
#include <stdbool.h>

#include "drivers/platform.h"
#include "drivers/processor/processor.h"
#include "lib/x86.h"

#define MSR_QM_EVTSEL 0xc8du /* event in bits 7:0, id in 41:32 */
#define MSR_QM_CTR 0xc8eu
#define MSR_PQR_ASSOC PMU_RDT_MSR /* id in bits 9:0; class of service above */
#define ID_MASK 0x3ffu
#define CTR_NO_DATA (3ull << 62) /* error, unavailable */

#define LEAF_FEATURES 7u
#define FEATURES_EBX_PQM (1u << 12)
#define LEAF_MONITOR 0xfu
#define MONITOR_EDX_L3 2u /* subleaf 0 */
#define COUNTER_BITS_LEAST                                                 \
    24u /* subleaf 1: EAX 7:0 adds to it, EBX is the unit, ECX the last id \
         */
#define OCCUPANCY 1u

static uint32_t unit_bytes;
static uint32_t last_id;
static uint32_t ids_given;
static uint32_t counter_shift; /* 64 less the counters' width */

static struct sum {
    uint64_t raw; /* what the counter held last, shifted up */
    uint64_t bytes;
} sums[PMU_RDT_IDS + 1][PMU_RDT_EVENTS];

/* The registers must take an event and answer. */
static bool rdt_answers(uint32_t event)
{
    uint64_t value;

    return platform_msr_write(MSR_QM_EVTSEL, event) == 0 &&
           platform_msr_read(MSR_QM_EVTSEL, &value) == 0 && value == event &&
           platform_msr_read(MSR_QM_CTR, &value) == 0;
}

uint32_t pmu_rdt_probe(void)
{
    struct cpuid_result monitor;
    uint32_t events, width;
    uint64_t value;

    if (!processor_has_leaf(LEAF_MONITOR) ||
        !(x86_cpuid(LEAF_FEATURES, 0).ebx & FEATURES_EBX_PQM) ||
        !(x86_cpuid(LEAF_MONITOR, 0).edx & MONITOR_EDX_L3))
        return 0;
    monitor = x86_cpuid(LEAF_MONITOR, 1);
    width = COUNTER_BITS_LEAST + (monitor.eax & 0xff);
    events = (monitor.edx & ((1u << PMU_RDT_EVENTS) - 1)) << 1;
    if (monitor.ebx == 0 || monitor.ecx == 0 || width > 62 || events == 0 ||
        platform_msr_read(MSR_PQR_ASSOC, &value) != 0 ||
        !rdt_answers((uint32_t)__builtin_ctz(events)))
        return 0;
    unit_bytes = monitor.ebx;
    last_id = monitor.ecx < PMU_RDT_IDS ? monitor.ecx : PMU_RDT_IDS;
    counter_shift = 64 - width;
    return events;
}

static uint64_t rdt_take(uint64_t select, uint8_t event)
{
    x86_wrmsr(MSR_QM_EVTSEL, (select & ~0xffull) | event);
    return x86_rdmsr(MSR_QM_CTR);
}

int pmu_rdt_start(void)
{
    uint64_t association, id;

    if (platform_msr_read(MSR_PQR_ASSOC, &association) != 0)
        return -EIO;
    id = association & ID_MASK;
    if (id == 0 || id > ids_given) { /* else it has started before */
        if (ids_given == last_id)
            return -ENOSPC;
        id = ++ids_given;
    }
    if (platform_msr_write(MSR_PQR_ASSOC, (association & ~(uint64_t)ID_MASK) | id) != 0 ||
        platform_msr_write(MSR_QM_EVTSEL, id << 32 | OCCUPANCY) != 0)
        return -EIO;
    return 0;
}

uint64_t pmu_rdt_read(uint8_t event)
{
    uint64_t select = x86_rdmsr(MSR_QM_EVTSEL), value = rdt_take(select, event), before;
    struct sum *sum = &sums[select >> 32 & PMU_RDT_IDS][event - 1];
    int64_t units = (int64_t)(value & (UINT64_MAX >> counter_shift));

    x86_wrmsr(MSR_QM_EVTSEL, select); /* of the reading that this one interrupted */
    if (value & CTR_NO_DATA)
        return sum->bytes;
    /* The difference has a sign: a reading that a newer one interrupted takes back what that added.
     */
    if (event != OCCUPANCY) {
        before = __atomic_exchange_n(&sum->raw, value << counter_shift, __ATOMIC_RELAXED);
        units = (int64_t)((value << counter_shift) - before) >> counter_shift;
    }
    return __atomic_add_fetch(&sum->bytes, (uint64_t)units * unit_bytes, __ATOMIC_RELAXED);
}
