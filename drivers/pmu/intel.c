/* Intel's architectural performance monitoring, versions 1 to 5. */
#include <errno.h>
#include <string.h>

#include "drivers/platform.h"
#include "drivers/pmu/intel.h"
#include "drivers/pmu/pmu_hardware.h"
#include "drivers/pmu/pmu_match.h"
#include "drivers/pmu/pmu_overflow.h"
#include "drivers/pmu/pmu_regs.h"
#include "include/run_ports.h"
#include "lib/x86.h"

#define CPUID_PMU 0x0a
#define CPUID_1_ECX_PDCM (1u << 15) /* IA32_PERF_CAPABILITIES exists */
#define SELECT_ONLY_EVENT (PMU_SELECT_EDGE | PMU_SELECT_INVERT | PMU_SELECT_CMASK)

/* What the fixed counters count, as event and umask (SDM "Fixed-Function Performance Counters"; the
 * codes of the last two are those that perf and libpfm4 use, and that of TOPDOWN.SLOTS). */
static const struct {
    uint16_t code;
    uint8_t counter;
} fixed_events[] = {{0x00c0, 0}, {0x003c, 1}, {0x0300, 2}, {0x0400, 3}, {0x01a4, 3}};

/* Events whose select is not all: the register that holds the rest (SDM "Off-core Response
 * Performance Monitoring", "Load Latency Performance Monitoring Facility", "PEBS Frontend Events";
 * 2AH and 2BH: off- core responses from Sapphire Rapids on). */
static const struct {
    uint8_t code;
    uint32_t msr;
} companions[] = {
    {0xb7, MSR_INTEL_OFFCORE_RSP0}, {0xbb, MSR_INTEL_OFFCORE_RSP1}, {0x2a, MSR_INTEL_OFFCORE_RSP0},
    {0x2b, MSR_INTEL_OFFCORE_RSP1}, {0xcd, MSR_INTEL_PEBS_LD_LAT},  {0xc6, MSR_INTEL_PEBS_FRONTEND},
};

struct pmu_caps intel_caps;

static bool is_intel(void)
{
    struct cpuid_result leaf = x86_cpuid(0, 0);

    return leaf.ebx == 0x756e6547 && leaf.edx == 0x49656e69 && leaf.ecx == 0x6c65746e &&
           leaf.eax >= CPUID_PMU;
}

/* CPUID leaf 0AH (SDM volume 2, CPUID, "Architectural Performance Monitoring Leaf"). */
static void read_leaf(struct pmu_caps *caps)
{
    struct cpuid_result leaf = x86_cpuid(CPUID_PMU, 0);

    caps->version = leaf.eax & 0xff;
    caps->general_counters = leaf.eax >> 8 & 0xff;
    caps->general_bits = leaf.eax >> 16 & 0xff;
    caps->global_control = caps->version >= 2;
    if (caps->version >= 2) {
        caps->fixed_counters = leaf.edx & 0x1f;
        caps->fixed_bits = leaf.edx >> 5 & 0xff;
        caps->fixed_mask = (1u << caps->fixed_counters) - 1;
    }
    if (caps->version >= 5)
        caps->fixed_mask |= leaf.ecx;
    caps->fixed_counters = caps->fixed_mask ? (uint8_t)(32 - __builtin_clz(caps->fixed_mask)) : 0;
}

static bool intel_probe(struct pmu_caps *caps)
{
    uint64_t value;

    if (!is_intel())
        return false;
    read_leaf(caps);
    if (caps->version == 0 || caps->general_counters == 0)
        return false;
    if (caps->general_counters > PMU_MATCH_COUNTERS_MAX || caps->general_bits > 64) {
        platform_log("PMU: CPUID reports %u counters of %u bits; not used", caps->general_counters,
                     caps->general_bits);
        return false;
    }
    if (caps->global_control &&
        platform_msr_write(MSR_INTEL_GLOBAL_CTRL, (1ull << caps->general_counters) - 1)) {
        platform_log("PMU: version %u is advertised, but IA32_PERF_GLOBAL_CTRL faults; not used",
                     caps->version);
        return false;
    }
    if (pmu_hardware_check(MSR_INTEL_PERFEVTSEL0, MSR_INTEL_PMC0)) {
        platform_log("PMU: version %u is advertised, but counter 0 does not count; not used",
                     caps->version);
        return false;
    }
    if (x86_cpuid(1, 0).ecx & CPUID_1_ECX_PDCM &&
        !platform_msr_read(MSR_INTEL_PERF_CAPABILITIES, &value))
        caps->full_width_writes = value & INTEL_CAPABILITIES_FW_WRITE;
    caps->needs_encodings = true;
    caps->vendor = RUN_CPU_INTEL;
    /* The legacy registers sign-extend bit 31; a preset must be negative. */
    caps->period_max = (1ull << ((caps->full_width_writes ? caps->general_bits : 32) - 1)) - 1;
    caps->overflow = true;
    intel_caps = *caps;
    return true;
}

/* The fixed counter that counts this event, or -1. */
static int fixed_counter(const struct pmu_caps *caps, uint64_t encoding)
{
    if (encoding & SELECT_ONLY_EVENT)
        return -1;
    for (unsigned i = 0; i < sizeof fixed_events / sizeof *fixed_events; i++) {
        if (fixed_events[i].code == (encoding & 0xffff) &&
            caps->fixed_mask & 1u << fixed_events[i].counter)
            return fixed_events[i].counter;
    }
    return -1;
}

/* General counters that may count an event.  SDM volume 3B, "Performance Monitoring Events": the
 * few restrictions that hold on every model that has the event. */
static uint32_t allowed_counters(const struct pmu_caps *caps, uint64_t encoding)
{
    uint32_t all = caps->general_counters < 32 ? (1u << caps->general_counters) - 1 : ~0u;

    if ((encoding & 0xffff) == 0x0148) /* L1D_PEND_MISS.PENDING: counter 2 */
        return all & 1u << 2;
    return all;
}

uint32_t intel_companion(const struct pmu_event *event)
{
    for (unsigned i = 0; i < sizeof companions / sizeof *companions; i++) {
        if (companions[i].code == (event->encoding & PMU_SELECT_EVENT))
            return companions[i].msr;
    }
    return 0;
}

/* Every companion value has a register, and no two events want different values of one. */
static int check_companions(const struct pmu_session *session, uint32_t *failed)
{
    const struct pmu_event *events = session->events;

    for (uint32_t i = 0; i < session->event_count; i++) {
        uint32_t msr = intel_companion(&events[i]);
        *failed = i;
        if (!events[i].encoding_ext)
            continue;
        if (!msr)
            return -EINVAL;
        for (uint32_t j = 0; j < i; j++) {
            if (events[j].encoding_ext && intel_companion(&events[j]) == msr &&
                events[j].encoding_ext != events[i].encoding_ext)
                return -ENOSPC;
        }
    }
    return 0;
}

static int intel_assign(const struct pmu_caps *caps, struct pmu_session *session, uint32_t *failed)
{
    uint32_t allowed[HR_EVENTS_MAX] = {0}, general[HR_EVENTS_MAX], count = 0, taken = 0;
    uint8_t counters[HR_EVENTS_MAX];

    int status = check_companions(session, failed);
    if (status)
        return status;
    for (uint32_t i = 0; i < session->event_count; i++) {
        struct pmu_event *event = &session->events[i];
        int fixed = fixed_counter(caps, event->encoding);
        event->source = HR_SOURCE_PMU;
        event->flags = pmu_hardware_rings(event->encoding);
        if (fixed >= 0 && !(taken & 1u << fixed)) {
            taken |= 1u << fixed;
            event->counter = INTEL_RDPMC_FIXED | (uint32_t)fixed;
            event->width_bits = caps->fixed_bits;
            continue;
        }
        general[count] = i;
        allowed[count++] = allowed_counters(caps, event->encoding);
    }
    uint32_t unplaced = pmu_match(allowed, count, counters);
    if (unplaced) {
        *failed = general[unplaced - 1];
        return -ENOSPC;
    }
    for (uint32_t i = 0; i < count; i++) {
        session->events[general[i]].counter = counters[i];
        session->events[general[i]].width_bits = caps->general_bits;
    }
    return 0;
}

const struct pmu_driver pmu_intel = {
    .name = "intel",
    .probe = intel_probe,
    .assign = intel_assign,
    .start = intel_start,
    .stop = intel_stop,
    .read = pmu_hardware_read,
    .overflowed = pmu_overflow_seen,
    .rearm = pmu_overflow_rearm,
};
