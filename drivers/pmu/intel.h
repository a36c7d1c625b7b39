/* What the parts of the Intel driver share. */
#ifndef DRIVERS_PMU_INTEL_H
#define DRIVERS_PMU_INTEL_H

#include "drivers/pmu/pmu.h"

/* A copy of the capabilities, for start and stop, which are not given them. */
extern struct pmu_caps intel_caps;

/* The companion register that holds the rest of an event's select, 0: none. */
uint32_t intel_companion(const struct pmu_event *event);

/* pmu_driver.start and stop. */
void intel_start(const struct pmu_session *session);
void intel_stop(const struct pmu_session *session);

#endif
