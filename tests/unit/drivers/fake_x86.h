/* Stands in for lib/x86.h: include it before a driver's .c, and define what that driver calls. */
#ifndef TESTS_UNIT_DRIVERS_FAKE_X86_H
#define TESTS_UNIT_DRIVERS_FAKE_X86_H

#define LIB_X86_H

#include <stdint.h>

struct cpuid_result {
    uint32_t eax, ebx, ecx, edx;
};

struct cpuid_result x86_cpuid(uint32_t leaf, uint32_t subleaf);
uint64_t x86_rdtsc(void);
void x86_halt(void);
uint64_t x86_rdmsr(uint32_t msr);
uint64_t x86_rdpmc(uint32_t counter);
void x86_wrmsr(uint32_t msr, uint64_t value);
uint8_t x86_in8(uint16_t port);
uint16_t x86_in16(uint16_t port);
uint32_t x86_in32(uint16_t port);
void x86_out8(uint16_t port, uint8_t v);
void x86_out16(uint16_t port, uint16_t v);
void x86_out32(uint16_t port, uint32_t v);

struct x86_halves {
    uint32_t low;
    uint32_t high;
};

static inline struct x86_halves x86_halves(uint64_t value)
{
    return (struct x86_halves){(uint32_t)value, (uint32_t)(value >> 32)};
}

static inline struct x86_halves x86_rdmsr_halves(uint32_t msr)
{
    return x86_halves(x86_rdmsr(msr));
}

static inline void x86_wrmsr_halves(uint32_t msr, const struct x86_halves *value)
{
    x86_wrmsr(msr, (uint64_t)value->high << 32 | value->low);
}

static inline void x86_pause(void)
{
}

static inline void x86_spin(uint64_t /* rounds */)
{
}

#endif
