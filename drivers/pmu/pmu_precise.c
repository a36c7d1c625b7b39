/* The buffer of precise records, and their registers. */
#include "drivers/pmu/pmu_precise.h"

#include "drivers/pmu/pmu_regs.h"

/* Fixed records have rflags, rip, rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, r8 to r15. */
static const uint8_t fixed_order[HR_ACCESS_REGISTERS] = {0, 1,  2,  4,  5,  3,  9,  8,  6,
                                                         7, 10, 11, 12, 13, 14, 15, 16, 17};

void pmu_precise_registers(enum pmu_record_kind kind, const uint64_t *words, uint64_t *registers)
{
    for (uint32_t i = 0; i < HR_ACCESS_REGISTERS; i++)
        registers[i] = words[kind <= PMU_RECORD_ADAPTIVE_REGISTERS ? i : fixed_order[i]];
}

const uint8_t *pmu_precise_take(struct pmu_precise *area, const uint8_t **end)
{
    const uint8_t *base = area->buffer;
    uint64_t used = *(volatile uint64_t *)&area->ds.index - area->ds.base;

    *end = base;
    if (used == 0 || area->record_bytes == 0)
        return base;
    *(volatile uint64_t *)&area->ds.index = area->ds.base;
    if (used <= area->bytes)
        *end = base + used - used % area->record_bytes;
    return base;
}

void pmu_precise_period(struct pmu_precise *area, const struct pmu_event *event, uint64_t period)
{
    uint64_t reset = pmu_precise_preset(event, period);
    uint32_t n = event->counter & ~INTEL_RDPMC_FIXED;

    if (event->counter & INTEL_RDPMC_FIXED)
        area->ds.fixed_reset[n & 15] = reset;
    else
        area->ds.general_reset[n & 7] = reset;
}
