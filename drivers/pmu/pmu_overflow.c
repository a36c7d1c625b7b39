/* The two calls of a counter interrupt's handler, for both vendors. */
#include "drivers/pmu/pmu_overflow.h"

#include "drivers/pmu/pmu_hardware.h"

struct pmu_overflow pmu_overflow;

uint64_t pmu_overflow_start(const struct pmu_overflow *how, uint64_t period)
{
    pmu_overflow = *how;
    pmu_overflow.plain = how->clear_msr && !how->control_msr && !how->look_flip;
    pmu_overflow.bare = !how->clear_msr && !how->control_msr && how->look_msr == how->counter_msr &&
                        how->look_bits >> 32 && how->look_flip == how->look_bits;
    pmu_overflow.looked = x86_halves(how->look_bits);
    pmu_overflow.cleared = x86_halves(how->clear_bits);
    pmu_overflow.preset = x86_halves(pmu_overflow_preset(period));
    pmu_overflow_clear();
    return pmu_overflow_preset(period);
}

void pmu_overflow_clear(void)
{
    if (pmu_overflow.clear_msr)
        pmu_hardware_write(pmu_overflow.clear_msr, pmu_overflow.clear_bits);
}
