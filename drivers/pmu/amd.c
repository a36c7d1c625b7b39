/* AMD's core counters: four legacy ones, six with PerfCtrExtCore, and PerfMonV2's global control.
 */
#include <errno.h>

#include "drivers/platform.h"
#include "drivers/pmu/ibs.h"
#include "drivers/pmu/pmu.h"
#include "drivers/pmu/pmu_hardware.h"
#include "drivers/pmu/pmu_overflow.h"
#include "drivers/pmu/pmu_regs.h"
#include "include/run_ports.h"
#include "lib/pmu/pmu_match.h"
#include "lib/x86.h"

#define LEGACY_COUNTERS 4
#define CORE_COUNTERS 6
#define AMD_COUNTERS_MAX 15 /* what CPUID can report */
#define CPUID_EXT_ECX_PERFCTR_CORE (1u << 23) /* 8000_0001H */
#define CPUID_PERFMON_V2 1u /* 8000_0022H EAX */

struct amd_registers { /* where selects and counters are */
    uint32_t select;
    uint32_t counter;
    uint32_t stride;
};

static struct amd_registers registers;
static struct pmu_caps amd; /* a copy for start and stop */
static uint64_t found_control; /* what the firmware had in PerfCntrGlobalCtl */

static bool is_amd(void)
{
    struct cpuid_result leaf = x86_cpuid(0, 0);

    return (leaf.ebx == 0x68747541 && leaf.edx == 0x69746e65 && leaf.ecx == 0x444d4163) ||
           (leaf.ebx == 0x6f677948 && leaf.edx == 0x6e65476e && leaf.ecx == 0x656e6975); /* Hygon */
}

/* CPUID 8000_0001H and 8000_0022H (APM volume 3, appendix "CPUID"). */
static void read_leaves(struct pmu_caps *caps)
{
    uint32_t highest = x86_cpuid(0x80000000, 0).eax;
    bool core = highest >= 0x80000001 && x86_cpuid(0x80000001, 0).ecx & CPUID_EXT_ECX_PERFCTR_CORE;

    caps->version = 1;
    caps->general_bits = AMD_COUNTER_BITS;
    caps->general_counters = core ? CORE_COUNTERS : LEGACY_COUNTERS;
    registers = core ? (struct amd_registers){MSR_AMD_CORE_CTL0, MSR_AMD_CORE_CTR0, 2}
                     : (struct amd_registers){MSR_AMD_LEGACY_CTL0, MSR_AMD_LEGACY_CTR0, 1};
    if (core && highest >= 0x80000022) {
        struct cpuid_result leaf = x86_cpuid(0x80000022, 0);
        if (leaf.eax & CPUID_PERFMON_V2) {
            caps->version = 2;
            caps->global_control = true;
            if (leaf.ebx & 0xf)
                caps->general_counters = leaf.ebx & 0xf;
        }
    }
    caps->general_mask = (1u << caps->general_counters) - 1;
}

static int enable_all(const struct pmu_caps *caps, bool on)
{
    for (uint32_t n = 0; n < AMD_COUNTERS_MAX; n++) {
        if (caps->general_mask & 1u << n &&
            platform_msr_write(registers.select + n * registers.stride,
                               on ? pmu_hardware_instructions() : 0))
            return -EFAULT;
    }
    return 0;
}

/* Takes away the counters that are in use or do not work. */
static void find_held(struct pmu_caps *caps)
{
    struct pmu_check checks[AMD_COUNTERS_MAX];
    uint32_t numbers[AMD_COUNTERS_MAX], count = 0, all = caps->general_mask;
    uint64_t good;

    caps->general_mask &= ~pmu_hardware_enabled(registers.select, registers.stride, all);
    for (uint32_t n = 0; n < AMD_COUNTERS_MAX; n++) {
        if (caps->general_mask & 1u << n) {
            numbers[count] = n;
            checks[count++] = (struct pmu_check){registers.counter + n * registers.stride,
                                                 PMU_CHECK_INSTRUCTIONS};
        }
    }
    good = pmu_hardware_check(checks, count, caps, enable_all);
    for (uint32_t i = 0; i < count; i++) {
        if (!(good & 1ull << i))
            caps->general_mask &= ~(1u << numbers[i]);
    }
    caps->general_held = all & ~caps->general_mask;
    caps->general_counters = pmu_hardware_count(caps->general_mask);
}

static bool amd_probe(struct pmu_caps *caps)
{
    if (!is_amd())
        return false;
    read_leaves(caps);
    found_control = 0;
    if (caps->global_control)
        platform_msr_read(MSR_AMD_GLOBAL_CTL, &found_control);
    if (caps->global_control && platform_msr_write(MSR_AMD_GLOBAL_CTL, caps->general_mask)) {
        platform_log("PMU: PerfMonV2 is advertised, but PerfCntrGlobalCtl faults; not used");
        return false;
    }
    find_held(caps);
    if (!caps->general_mask)
        return false; /* legacy counters are not advertised: silence is no lie */
    caps->full_width_writes = true;
    caps->needs_encodings = true;
    caps->vendor = RUN_CPU_AMD;
    caps->overflow = true;
    caps->period_max = (1ull << (AMD_COUNTER_BITS - 1)) - 1;
    ibs_records_probe(caps);
    amd = *caps;
    return true;
}

/* Events of instruction-based sampling need no counter, and no counter makes records. */
static int assign_records(struct pmu_event *event, struct pmu_refusal *refusal)
{
    if (ibs_makes(event))
        return ibs_assign(event, refusal);
    return event->record_period ? -EINVAL : 0;
}

static int amd_assign(const struct pmu_caps *caps, struct pmu_session *session,
                      struct pmu_refusal *refusal)
{
    uint32_t allowed[HR_EVENTS_MAX] = {0}, unplaced, count = 0;
    struct pmu_event *counted[HR_EVENTS_MAX];
    uint8_t counters[HR_EVENTS_MAX];

    for (uint32_t i = 0; i < session->event_count; i++) {
        struct pmu_event *event = &session->events[i];
        int status = assign_records(event, refusal);

        refusal->event = i;
        if (status)
            return status;
        if (ibs_makes(event))
            continue;
        allowed[count] = pmu_hardware_allowed(caps, event);
        counted[count++] = event;
    }
    unplaced = pmu_match(allowed, count, counters);
    if (unplaced) {
        refusal->event = (uint32_t)(counted[unplaced - 1] - session->events);
        return -ENOSPC;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct pmu_event *event = counted[i];
        event->source = HR_SOURCE_PMU;
        event->flags = pmu_hardware_rings(event->encoding);
        event->counter = counters[i];
        event->width_bits = caps->general_bits;
    }
    return 0;
}

static uint64_t global_bits(const struct pmu_session *session)
{
    uint64_t bits = 0;

    for (uint32_t i = 0; i < session->event_count; i++)
        if (!ibs_makes(&session->events[i]))
            bits |= 1ull << session->events[i].counter;
    return bits;
}

/* PerfMonV2 has a status bit and a switch for all counters; before it there is only the counter
 * itself, and counters of ring 0 count the handler. */
static void describe_overflow(const struct pmu_session *session, struct pmu_overflow *how)
{
    const struct pmu_event *event = &session->events[0];

    *how = (struct pmu_overflow){
        .counter_msr = registers.counter + event->counter * registers.stride,
        .counter = event->counter,
        .counter_mask = ~0ull >> (64 - event->width_bits),
    };
    if (!amd.global_control) {
        how->look_msr = how->counter_msr;
        how->look_bits = how->look_flip = 1ull << (event->width_bits - 1);
        return;
    }
    how->look_msr = MSR_AMD_GLOBAL_STATUS;
    how->clear_msr = MSR_AMD_GLOBAL_STATUS_CLR;
    how->look_bits = how->clear_bits = 1ull << event->counter;
    how->control = global_bits(session);
    if (pmu_hardware_counts_kernel(session))
        how->control_msr = MSR_AMD_GLOBAL_CTL;
}

/* A counter gets its select last, so that without global control it starts from 0 exactly; stop
 * goes in the same order, so that counters of ring 0 all count for the same number of instructions.
 */
static void start_counter(uint32_t i, const struct pmu_event *event, uint64_t first,
                          uint64_t interrupt)
{
    uint32_t offset = event->counter * registers.stride;
    uint64_t select = pmu_hardware_select(event) | interrupt;

    pmu_hardware_of_event(i);
    pmu_hardware_write(registers.select + offset, 0);
    pmu_hardware_preset(registers.counter + offset, first);
    pmu_hardware_write(registers.select + offset, select);
    if (!amd.global_control)
        pmu_hardware_add_switch(registers.select + offset, select);
}

static int amd_start(const struct pmu_session *session)
{
    struct pmu_overflow how;
    uint64_t preset = 0;

    pmu_hardware_start(session);
    if (amd.global_control)
        pmu_hardware_write(MSR_AMD_GLOBAL_CTL, 0);
    if (session->period) {
        describe_overflow(session, &how);
        preset = pmu_overflow_start(&how, session->period);
    }
    for (uint32_t i = 0; i < session->event_count; i++) {
        const struct pmu_event *event = &session->events[i];
        bool samples = i == 0 && session->period;

        if (ibs_makes(event)) /* it is read as some counter, and that is not looked at */
            pmu_hardware_reads(i, registers.counter + event->counter * registers.stride);
        else
            start_counter(i, event, samples ? preset : pmu_hardware_first(event->width_bits),
                          samples ? PMU_SELECT_INTERRUPT : 0);
    }
    pmu_hardware_of_event(PMU_NO_EVENT);
    if (amd.global_control) {
        pmu_hardware_add_switch(MSR_AMD_GLOBAL_CTL, global_bits(session));
        pmu_hardware_write(MSR_AMD_GLOBAL_CTL, global_bits(session));
    }
    return pmu_hardware_started();
}

static void amd_stop(const struct pmu_session *session)
{
    if (amd.global_control) {
        pmu_hardware_write(MSR_AMD_GLOBAL_CTL, 0);
        if (session->period)
            pmu_overflow_clear();
        return;
    }
    for (uint32_t i = 0; i < session->event_count; i++)
        if (!ibs_makes(&session->events[i]))
            pmu_hardware_write(registers.select + session->events[i].counter * registers.stride, 0);
}

/* Ignores faults: the log is no longer read. */
static void amd_reset(void)
{
    ibs_records_reset();
    if (amd.global_control)
        platform_msr_write(MSR_AMD_GLOBAL_CTL, 0);
    for (uint32_t n = 0; n < AMD_COUNTERS_MAX; n++) {
        if (!(amd.general_mask & 1u << n))
            continue;
        platform_msr_write(registers.select + n * registers.stride, 0);
        platform_msr_write(registers.counter + n * registers.stride, 0);
    }
    if (amd.global_control) {
        platform_msr_write(MSR_AMD_GLOBAL_STATUS_CLR, amd.general_mask);
        platform_msr_write(MSR_AMD_GLOBAL_CTL, found_control);
    }
}

const struct pmu_driver pmu_amd = {
    .name = "amd",
    .probe = amd_probe,
    .assign = amd_assign,
    .start = amd_start,
    .stop = amd_stop,
    .reset = amd_reset,
    .read = pmu_hardware_read,
    .read_others = pmu_hardware_read_others,
    .reader = pmu_hardware_reader,
    .pause = pmu_hardware_pause,
    .resume = pmu_hardware_resume,
    .precise_start = ibs_records_start,
    .precise_stop = ibs_records_stop,
    .precise_collect = ibs_records_collect,
};
