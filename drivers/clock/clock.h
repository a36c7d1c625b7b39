/* Finds the TSC's frequency and the method by which it is known. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "drivers/acpi/acpi.h"

struct clock_source {
    uint64_t hz;
    uint32_t method; /* enum hr_clock_method */
    bool virtual_time; /* one instruction = one tick, verified by counting a known loop */
};

/* Tries, in this order: virtual time (only if `may_be_virtual`: loops of known length must read
 * back exact tick counts, repeatedly; then hz is 1000000000), CPUID 15H (with a crystal of 24 MHz
 * on clients of the Skylake family, which do not report it), CPUID 16H, hypervisor leaf 40000010H,
 * kvmclock (MSR 4B564D01H), calibration against HPET, ACPI PM timer or PIT. */
void clock_find(const struct acpi_machine *machine, bool may_be_virtual, struct clock_source *out);

/* Busy-waits on the TSC; clock_find must have been called. */
void clock_delay_us(uint64_t us);

/* Returns microseconds since an arbitrary moment, for time limits; at most 0.1% off.  clock_find
 * must have been called. */
uint64_t clock_us(void);
