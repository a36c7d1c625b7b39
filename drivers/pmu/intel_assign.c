/* Which of Intel's counters counts which event. */
#include <errno.h>

#include "drivers/platform.h"
#include "drivers/pmu/intel.h"
#include "drivers/pmu/pmu_hardware.h"
#include "drivers/pmu/pmu_regs.h"
#include "lib/array.h"
#include "lib/pmu/pmu_intel.h"
#include "lib/pmu/pmu_match.h"

#define SELECT_CODE (PMU_SELECT_EVENT | PMU_SELECT_UMASK)
/* Events by their bits in CPUID leaf 0AH EBX and leaf 23H (SDM "Pre-defined Architectural
 * Performance Events"). */
static const uint16_t architectural_events[] = {0x003c, 0x00c0, 0x013c, 0x4f2e,
                                                0x412e, 0x00c4, 0x00c5, 0x01a4};

/* Returns the fixed counter that counts this event, or -1. */
static int fixed_counter(const struct pmu_caps *caps, const struct pmu_event *event)
{
    uint32_t mask = caps->fixed_mask & (event->record_period ? caps->precise_fixed_mask : ~0u);
    int counter = pmu_intel_fixed(event->encoding);

    return counter >= 0 && mask & 1u << counter ? counter : -1;
}

/* Returns the general counters that may count an event; none if CPUID reports it as unavailable, or
 * if it is no event of a general counter. */
static uint32_t general_allowed(const struct pmu_caps *caps, const struct pmu_event *event)
{
    if (!pmu_intel_is_general(event->encoding))
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
        uint32_t msr = pmu_intel_companion(events[i].encoding);
        refusal->event = i;
        if (!events[i].encoding_ext)
            continue;
        if (!msr)
            return -EINVAL;
        for (uint32_t j = 0; j < i; j++) {
            refusal->other = j;
            if (events[j].encoding_ext && pmu_intel_companion(events[j].encoding) == msr &&
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
