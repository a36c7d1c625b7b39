/* The two calls of a counter interrupt's handler, for both vendors. */
#include "drivers/pmu/pmu_overflow.h"

#include "drivers/apic/apic.h"
#include "drivers/pmu/pmu_hardware.h"
#include "lib/x86.h"

static struct pmu_overflow overflow;

static uint64_t pmu_overflow_preset(uint64_t period)
{
    return (0 - period) & overflow.counter_mask;
}

uint64_t pmu_overflow_start(const struct pmu_overflow *how, uint64_t period)
{
    overflow = *how;
    pmu_overflow_clear();
    return pmu_overflow_preset(period);
}

void pmu_overflow_clear(void)
{
    if (overflow.clear_msr)
        pmu_hardware_write(overflow.clear_msr, overflow.clear_bits);
}

uint64_t pmu_overflow_seen(const struct pmu_session *)
{
    uint64_t look = x86_rdmsr(overflow.look_msr);

    if (!((look ^ overflow.look_flip) & overflow.look_bits))
        return PMU_NOT_OVERFLOWED; /* and nothing was stopped: rearm does not follow */
    if (overflow.control_msr)
        x86_wrmsr(overflow.control_msr, 0);
    return overflow.clear_msr ? x86_rdpmc(overflow.counter) : look;
}

void pmu_overflow_rearm(const struct pmu_session *, uint64_t period, bool masked)
{
    x86_wrmsr(overflow.counter_msr, pmu_overflow_preset(period));
    if (overflow.clear_msr)
        x86_wrmsr(overflow.clear_msr, overflow.clear_bits);
    if (masked)
        apic_pmi_enable(); /* after the status is clear, before counters of ring 0 count again */
    if (overflow.control_msr)
        x86_wrmsr(overflow.control_msr, overflow.control);
}
