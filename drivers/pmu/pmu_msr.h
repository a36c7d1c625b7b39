/* Events that are registers (lib/msr_events.h), beside those of a counter driver.
 *
 * A session that has some is served by a layer over the driver, which is asked for the others only;
 * without any, nothing of this runs.
 */
#ifndef DRIVERS_PMU_PMU_MSR_H
#define DRIVERS_PMU_PMU_MSR_H

#include "drivers/pmu/pmu.h"

/* The driver to use in place of `under`: that itself unless the session has such events.  Boot.
 *
 * The layer's assign puts them behind all others, which keep their order, and refuses with -ENODEV
 * those whose register is not there.  Its read stores what the registers hold: 32 or 64 bits from
 * any value on, other ones on other CPUs.
 */
const struct pmu_driver *pmu_msr_layer(const struct pmu_driver *under,
                                       const struct pmu_session *session);

#endif
