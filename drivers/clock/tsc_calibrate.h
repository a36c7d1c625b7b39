/* Measures the TSC's frequency against a timer of known frequency. */
#pragma once

#include <stdint.h>

#include "drivers/acpi/acpi.h"

/* Measures against HPET, ACPI PM timer or PIT, the first that works; takes the best of three
 * measurements of window_us each.  Returns Hz, or 0 if there is no working timer.  Context: boot,
 * interrupts off. */
uint64_t tsc_calibrate(const struct acpi_machine *machine, uint32_t window_us);
