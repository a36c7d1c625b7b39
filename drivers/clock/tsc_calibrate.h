/* Measures the TSC's frequency against a timer of known frequency. */
#ifndef DRIVERS_CLOCK_TSC_CALIBRATE_H
#define DRIVERS_CLOCK_TSC_CALIBRATE_H

#include <stdint.h>

#include "drivers/acpi/acpi.h"

/* Against HPET, ACPI PM timer or PIT, the first that works; the best of three measurements, each
 * of window_us.  Returns Hz, 0 when there is no working timer.  Boot, interrupts off.
 */
uint64_t tsc_calibrate(const struct acpi_machine *machine, uint32_t window_us);

#endif
