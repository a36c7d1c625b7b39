/* Starts and stops Intel's counters, and arms the one that samples on overflow. */
#include "drivers/pmu/intel.h"

#include "drivers/platform.h"
#include "drivers/pmu/pmu_hardware.h"
#include "drivers/pmu/pmu_overflow.h"
#include "drivers/pmu/pmu_precise.h"
#include "drivers/pmu/pmu_regs.h"
#include "lib/pmu/pmu_intel.h"

/* Where a counter starts from, and whether it interrupts at the end of its range, or writes records
 * there. */
struct intel_preset {
    uint64_t value;
    bool interrupts;
    bool adaptive;
};

static struct intel_preset preset_of(const struct pmu_session *session, uint32_t i,
                                     uint64_t overflow)
{
    const struct pmu_event *event = &session->events[i];

    if (session->precise && event->record_period)
        return (struct intel_preset){.value = pmu_precise_preset(event, event->record_period),
                                     .adaptive = intel_pebs_adaptive()};
    if (i == 0 && overflow)
        return (struct intel_preset){.value = overflow, .interrupts = true};
    return (struct intel_preset){.value = pmu_hardware_first(event->width_bits)};
}

/* Returns the counter's fields of FIXED_CTR_CTRL. */
static uint64_t start_fixed(const struct pmu_event *event, struct intel_preset preset)
{
    uint32_t n = event->counter & ~INTEL_RDPMC_FIXED;
    uint64_t field = (event->flags & HR_EVENT_USER ? INTEL_FIXED_USER : 0) |
                     (event->flags & HR_EVENT_KERNEL ? INTEL_FIXED_KERNEL : 0) |
                     (preset.interrupts ? INTEL_FIXED_INTERRUPT : 0) |
                     (uint64_t)preset.adaptive << INTEL_FIXED_ADAPTIVE;

    pmu_hardware_preset(intel_registers.fixed + n * intel_registers.stride, preset.value);
    return field << 4 * n;
}

static void start_general(const struct pmu_event *event, struct intel_preset preset)
{
    uint32_t offset = event->counter * intel_registers.stride;
    uint64_t select;

    if (event->encoding_ext)
        pmu_hardware_write(pmu_intel_companion(event->encoding), event->encoding_ext);
    pmu_hardware_write(intel_registers.select + offset, 0);
    pmu_hardware_preset(intel_registers.counter + offset, preset.value);
    select = pmu_hardware_select(event) | (preset.interrupts ? PMU_SELECT_INTERRUPT : 0) |
             (preset.adaptive ? INTEL_SELECT_ADAPTIVE : 0);
    pmu_hardware_write(intel_registers.select + offset, select);
    if (!intel_caps.global_control)
        pmu_hardware_add_switch(intel_registers.select + offset, select);
}

/* An event's bit in GLOBAL_CTRL and GLOBAL_STATUS. */
static uint64_t global_bit(const struct pmu_event *event)
{
    if (event->counter & INTEL_RDPMC_FIXED)
        return 1ull << (INTEL_GLOBAL_FIXED_SHIFT + (event->counter & ~INTEL_RDPMC_FIXED));
    return 1ull << event->counter;
}

static uint64_t global_bits(const struct pmu_session *session)
{
    uint64_t bits = 0;

    for (uint32_t i = 0; i < session->event_count; i++)
        bits |= global_bit(&session->events[i]);
    return bits;
}

/* Lets the overflow itself freeze all counters (version 4 on; SDM "Streamlined Freeze PMI").
 * Hypervisors may refuse the bit or forget it. */
static bool freeze_on_overflow(bool wanted)
{
    uint64_t value;

    if (intel_caps.version < 4 || platform_msr_read(MSR_INTEL_DEBUGCTL, &value))
        return false;
    if (wanted == !(value & INTEL_DEBUGCTL_FREEZE) &&
        (platform_msr_write(MSR_INTEL_DEBUGCTL, value ^ INTEL_DEBUGCTL_FREEZE) ||
         platform_msr_read(MSR_INTEL_DEBUGCTL, &value)))
        return false;
    return value & INTEL_DEBUGCTL_FREEZE;
}

/* SDM volume 3B, "Filtering of SMM Handler Overhead": without this an SMI's handler counts as ring
 * 0.  If the bit cannot be set, it does count. */
static void freeze_in_smm(void)
{
    uint64_t value;

    if (intel_smm_freeze && !platform_msr_read(MSR_INTEL_DEBUGCTL, &value) &&
        !(value & INTEL_DEBUGCTL_FREEZE_SMM))
        platform_msr_write(MSR_INTEL_DEBUGCTL, value | INTEL_DEBUGCTL_FREEZE_SMM);
}

/* Counters of ring 3 stand still in the handler by themselves.  Those of ring 0 are frozen by the
 * overflow, or else stopped by the handler. */
static void describe_overflow(const struct pmu_session *session, struct pmu_overflow *how)
{
    const struct pmu_event *event = &session->events[0];
    uint32_t first =
        event->counter & INTEL_RDPMC_FIXED ? intel_registers.fixed : intel_registers.counter;

    *how = (struct pmu_overflow){
        .counter_msr = first + (event->counter & ~INTEL_RDPMC_FIXED) * intel_registers.stride,
        .counter = event->counter,
        .counter_mask = ~0ull >> (64 - event->width_bits),
    };
    if (!intel_caps.global_control) {
        how->look_msr = how->counter_msr;
        how->look_bits = how->look_flip = 1ull << (event->width_bits - 1);
        return;
    }
    how->look_msr = MSR_INTEL_GLOBAL_STATUS;
    how->look_bits = how->clear_bits = global_bit(event);
    how->clear_msr = MSR_INTEL_GLOBAL_OVF_CTRL;
    how->control = global_bits(session);
    if (!pmu_hardware_counts_kernel(session))
        freeze_on_overflow(false);
    else if (freeze_on_overflow(true))
        how->clear_bits |= INTEL_STATUS_CTR_FRZ;
    else
        how->control_msr = MSR_INTEL_GLOBAL_CTRL;
}

int intel_start(const struct pmu_session *session)
{
    struct pmu_overflow how;
    uint64_t fixed_control = 0, overflow = 0;

    pmu_hardware_start(session);
    if (intel_caps.global_control)
        pmu_hardware_write(MSR_INTEL_GLOBAL_CTRL, 0);
    freeze_in_smm();
    if (session->period) {
        describe_overflow(session, &how);
        overflow = pmu_overflow_start(&how, session->period);
    }
    for (uint32_t i = 0; i < session->event_count; i++) {
        const struct pmu_event *event = &session->events[i];
        pmu_hardware_of_event(i);
        if (event->counter & INTEL_RDPMC_FIXED)
            fixed_control |= start_fixed(event, preset_of(session, i, overflow));
        else
            start_general(event, preset_of(session, i, overflow));
    }
    pmu_hardware_of_event(PMU_NO_EVENT);
    if (!intel_caps.global_control)
        return pmu_hardware_started();
    pmu_hardware_add_switch(MSR_INTEL_GLOBAL_CTRL, global_bits(session));
    pmu_hardware_write(MSR_INTEL_FIXED_CTR_CTRL, fixed_control);
    pmu_hardware_write(MSR_INTEL_GLOBAL_CTRL, global_bits(session));
    return pmu_hardware_started();
}

/* Counts stay readable. */
void intel_stop(const struct pmu_session *session)
{
    if (intel_caps.global_control) {
        pmu_hardware_write(MSR_INTEL_GLOBAL_CTRL, 0);
        if (session->period)
            pmu_overflow_clear();
        return;
    }
    for (uint32_t i = 0; i < session->event_count; i++)
        pmu_hardware_write(
            intel_registers.select + session->events[i].counter * intel_registers.stride, 0);
}

/* Ignores faults: the log is no longer read. */
static void reset_counter(uint32_t select, uint32_t counter)
{
    if (select)
        platform_msr_write(select, 0);
    platform_msr_write(counter, 0);
}

static void reset_fixed_control(void)
{
    uint64_t value, fields = 0;

    for (uint32_t n = 0; n < INTEL_FIXED_MAX; n++) {
        if (intel_caps.fixed_mask & 1u << n)
            fields |= 0xfull << 4 * n;
    }
    if (fields && !platform_msr_read(MSR_INTEL_FIXED_CTR_CTRL, &value))
        platform_msr_write(MSR_INTEL_FIXED_CTR_CTRL, value & ~fields);
}

void intel_reset(void)
{
    const struct intel_registers *r = &intel_registers;

    if (intel_caps.global_control)
        platform_msr_write(MSR_INTEL_GLOBAL_CTRL, 0);
    reset_fixed_control();
    for (uint32_t n = 0; n < 32; n++) {
        if (intel_caps.general_mask & 1u << n)
            reset_counter(r->select + n * r->stride, r->counter + n * r->stride);
        if (intel_caps.fixed_mask & 1u << n)
            reset_counter(0, r->fixed + n * r->stride);
    }
    if (intel_caps.no_records == NULL)
        intel_pebs_reset();
    if (!intel_caps.global_control)
        return;
    platform_msr_write(MSR_INTEL_GLOBAL_OVF_CTRL,
                       (uint64_t)intel_caps.fixed_mask << INTEL_GLOBAL_FIXED_SHIFT |
                           intel_caps.general_mask |
                           (intel_caps.version >= 4 ? INTEL_STATUS_CTR_FRZ : 0));
    if (intel_caps.version >= 4 || intel_smm_freeze)
        platform_msr_write(MSR_INTEL_DEBUGCTL, intel_found.debug_control);
    platform_msr_write(MSR_INTEL_GLOBAL_CTRL, intel_found.global_control);
}
