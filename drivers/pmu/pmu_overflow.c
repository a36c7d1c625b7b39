/* The two calls of a counter interrupt's handler, for both vendors. */
#include "drivers/pmu/pmu_overflow.h"

#include "drivers/pmu/pmu_hardware.h"

struct pmu_overflow pmu_overflow;

static uint64_t pmu_overflow_preset(uint64_t period)
{
    return (0 - period) & pmu_overflow.counter_mask;
}

uint64_t pmu_overflow_start(const struct pmu_overflow *how, uint64_t period)
{
    pmu_overflow = *how;
    pmu_overflow.plain = how->clear_msr && !how->control_msr && !how->look_flip;
    pmu_overflow_clear();
    return pmu_overflow_preset(period);
}

void pmu_overflow_clear(void)
{
    if (pmu_overflow.clear_msr)
        pmu_hardware_write(pmu_overflow.clear_msr, pmu_overflow.clear_bits);
}

uint64_t pmu_overflow_seen(const struct pmu_session *)
{
    uint64_t value;

    return pmu_overflow_look(&value) ? value : PMU_NOT_OVERFLOWED;
}

void pmu_overflow_rearm(const struct pmu_session *, uint64_t period, bool masked)
{
    pmu_overflow_arm(period, masked);
}
