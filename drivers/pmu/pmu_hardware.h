/* What the drivers for real counters share. */
#ifndef DRIVERS_PMU_PMU_HARDWARE_H
#define DRIVERS_PMU_PMU_HARDWARE_H

#include "drivers/pmu/pmu.h"

/* Notes every event's `counter` for pmu_hardware_read; part of pmu_driver.start. */
void pmu_hardware_start(const struct pmu_session *session);

/* pmu_driver.read by RDPMC. */
void pmu_hardware_read(const struct pmu_session *session, uint64_t user_instructions,
                       uint64_t *values);

/* Rings of an event select, as HR_EVENT_* flags; none asked for means ring 3. */
uint32_t pmu_hardware_rings(uint64_t encoding);

/* The event select that counts this event in its rings, enabled. */
uint64_t pmu_hardware_select(const struct pmu_event *event);

/* Does any event of the session count ring 0? */
bool pmu_hardware_counts_kernel(const struct pmu_session *session);

/* Writes a register that probing found; a fault is logged, not fatal. */
void pmu_hardware_write(uint32_t msr, uint64_t value);

/* Does a counter count?  Enables event C0H (instructions on either vendor) in all rings through
 * `select`, executes some, and compares `counter` before and after.  0, -ENODEV. */
int pmu_hardware_check(uint32_t select, uint32_t counter);

#endif
