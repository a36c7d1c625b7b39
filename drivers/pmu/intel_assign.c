/* Which of Intel's counters counts which event. */
#include <errno.h>

#include "drivers/platform.h"
#include "drivers/pmu/intel.h"
#include "drivers/pmu/pmu_hardware.h"
#include "drivers/pmu/pmu_match.h"
#include "drivers/pmu/pmu_regs.h"
#include "lib/array.h"

#define SELECT_CODE (PMU_SELECT_EVENT | PMU_SELECT_UMASK)
/* What a fixed counter does with an event as well; of any other bit (edge, inversion, CMASK,
 * AnyThread, transactions) it knows nothing. */
#define SELECT_OF_FIXED \
    (SELECT_CODE | PMU_SELECT_USER | PMU_SELECT_KERNEL | PMU_SELECT_INTERRUPT | PMU_SELECT_ENABLE)

/* What the fixed counters count, as event and umask (SDM "Fixed-Function Performance Counters").
 * Event 00H is none of a general counter: Intel's event lists use it for the fixed ones. */
static const struct {
    uint16_t code;
    uint8_t counter;
} fixed_events[] = {{0x00c0, 0}, {0x0100, 0}, {0x003c, 1}, {0x0200, 1},
                    {0x0300, 2}, {0x0400, 3}, {0x01a4, 3}};

/* Events by their bits in CPUID leaf 0AH EBX and leaf 23H (SDM "Pre-defined Architectural
 * Performance Events"). */
static const uint16_t architectural_events[] = {0x003c, 0x00c0, 0x013c, 0x4f2e,
                                                0x412e, 0x00c4, 0x00c5, 0x01a4};

/* Events whose select is not all: the register that holds the rest (SDM "Off-core Response
 * Performance Monitoring", "Load Latency Performance Monitoring Facility", "PEBS Frontend Events";
 * 2AH and 2BH: off-core responses from Sapphire Rapids on; 0BH: load latency of Nehalem). */
static const struct {
    uint8_t code;
    uint32_t msr;
} companions[] = {
    {0xb7, MSR_INTEL_OFFCORE_RSP0},  {0xbb, MSR_INTEL_OFFCORE_RSP1}, {0x2a, MSR_INTEL_OFFCORE_RSP0},
    {0x2b, MSR_INTEL_OFFCORE_RSP1},  {0xcd, MSR_INTEL_PEBS_LD_LAT},  {0x0b, MSR_INTEL_PEBS_LD_LAT},
    {0xc6, MSR_INTEL_PEBS_FRONTEND},
};

uint32_t intel_companion(const struct pmu_event *event)
{
    for (unsigned i = 0; i < ARRAY_COUNT(companions); i++) {
        if (companions[i].code == (event->encoding & PMU_SELECT_EVENT))
            return companions[i].msr;
    }
    return 0;
}

/* Returns the fixed counter that counts this event, or -1. */
static int fixed_counter(const struct pmu_caps *caps, const struct pmu_event *event)
{
    uint32_t mask = caps->fixed_mask & (event->record_period ? caps->precise_fixed_mask : ~0u);

    if (event->encoding & ~SELECT_OF_FIXED)
        return -1;
    for (unsigned i = 0; i < ARRAY_COUNT(fixed_events); i++) {
        if (fixed_events[i].code == (event->encoding & SELECT_CODE) &&
            mask & 1u << fixed_events[i].counter)
            return fixed_events[i].counter;
    }
    return -1;
}

/* Returns the general counters that may count an event; none if CPUID reports it as unavailable, or
 * if it is no event of a general counter. */
static uint32_t general_allowed(const struct pmu_caps *caps, const struct pmu_event *event)
{
    if (!(event->encoding & PMU_SELECT_EVENT))
        return 0;
    for (unsigned i = 0; i < ARRAY_COUNT(architectural_events); i++) {
        if (architectural_events[i] == (event->encoding & SELECT_CODE) &&
            caps->missing_events & 1u << i)
            return 0;
    }
    return pmu_hardware_allowed(caps, event) & (event->record_period ? caps->precise_mask : ~0u);
}

/* Returns -ENODEV for an event that no counter of this CPU counts, used or not. */
static int check_events(const struct pmu_caps *caps, const struct pmu_session *session,
                        struct pmu_refusal *refusal)
{
    for (uint32_t i = 0; i < session->event_count; i++) {
        const struct pmu_event *event = &session->events[i];
        if (fixed_counter(caps, event) < 0 && !general_allowed(caps, event)) {
            refusal->event = i;
            return -ENODEV;
        }
    }
    return 0;
}

/* A hypervisor may have the event but not this register: then it faults, or reads as 0. */
static bool intel_assign_keeps(uint32_t msr, uint64_t value)
{
    uint64_t found, kept;
    bool same;

    if (platform_msr_read(msr, &found) || platform_msr_write(msr, value))
        return false;
    same = !platform_msr_read(msr, &kept) && kept == value;
    platform_msr_write(msr, found);
    return same;
}

/* Checks that every companion value has a register that takes it, and that no two events want
 * different values of one. */
static int check_companions(const struct pmu_session *session, struct pmu_refusal *refusal)
{
    const struct pmu_event *events = session->events;

    for (uint32_t i = 0; i < session->event_count; i++) {
        uint32_t msr = intel_companion(&events[i]);
        refusal->event = i;
        if (!events[i].encoding_ext)
            continue;
        if (!msr)
            return -EINVAL;
        for (uint32_t j = 0; j < i; j++) {
            refusal->other = j;
            if (events[j].encoding_ext && intel_companion(&events[j]) == msr &&
                events[j].encoding_ext != events[i].encoding_ext)
                return -EBUSY;
        }
        refusal->msr = msr;
        refusal->value = events[i].encoding_ext;
        if (!intel_assign_keeps(msr, events[i].encoding_ext))
            return -EOPNOTSUPP;
    }
    return 0;
}

/* Fixed counters first: they cost no general one. */
int intel_assign(const struct pmu_caps *caps, struct pmu_session *session,
                 struct pmu_refusal *refusal)
{
    uint32_t allowed[HR_EVENTS_MAX] = {0}, general[HR_EVENTS_MAX], count = 0, taken = 0, unplaced;
    uint8_t counters[HR_EVENTS_MAX];

    int status = check_events(caps, session, refusal);
    if (status == 0)
        status = check_companions(session, refusal);
    if (status)
        return status;
    for (uint32_t i = 0; i < session->event_count; i++) {
        struct pmu_event *event = &session->events[i];
        int fixed = fixed_counter(caps, event);
        event->source = HR_SOURCE_PMU;
        event->flags = pmu_hardware_rings(event->encoding);
        if (fixed >= 0 && !(taken & 1u << fixed)) {
            taken |= 1u << fixed;
            event->counter = INTEL_RDPMC_FIXED | (uint32_t)fixed;
            event->width_bits = caps->fixed_bits;
            continue;
        }
        general[count] = i;
        allowed[count++] = general_allowed(caps, event);
    }
    unplaced = pmu_match(allowed, count, counters);
    if (unplaced) {
        refusal->event = general[unplaced - 1];
        return -ENOSPC;
    }
    for (uint32_t i = 0; i < count; i++) {
        session->events[general[i]].counter = counters[i];
        session->events[general[i]].width_bits = caps->general_bits;
    }
    return 0;
}
