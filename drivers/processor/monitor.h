/* What happens to a CPU during the run: actual frequency, SMIs, throttling.
 *
 * Probed and read on the CPU concerned, interrupts off.  Registers that CPUID does not promise are
 * not touched, and those that fault count as absent. APERF and MPERF must move: emulators answer 0
 * for registers that they do not know.
 */
#pragma once

#include <stdint.h>

#include "include/hr_format.h"

struct monitor_reading { /* 0 where a register is not there */
    uint64_t tsc;
    uint64_t aperf;
    uint64_t mperf;
    uint32_t smi;
    uint32_t thermal; /* IA32_THERM_STATUS */
    uint32_t package; /* IA32_PACKAGE_THERM_STATUS */
};

struct monitor_frequency { /* aperf / mperf times the TSC's frequency */
    uint32_t aperf;
    uint32_t mperf;
};

/* Returns which registers exist, as HR_MACHINE_* flags. */
uint32_t monitor_probe(void);

void monitor_read(uint32_t flags, struct monitor_reading *out);

/* Clears the logs of thermal events, so that they show only later events.  Returns HR_MACHINE_LOGS
 * if that worked, otherwise 0. */
uint32_t monitor_clear_logs(uint32_t flags);

/* Spins for `ticks` ticks of the TSC (below 2^31) and returns how fast the CPU was. */
struct monitor_frequency monitor_spin(uint32_t flags, uint32_t ticks);
