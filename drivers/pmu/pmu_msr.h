/* Events that are registers (lib/pmu/msr_events.h), in addition to those of a counter driver.
 *
 * A session with such events is served by a layer over the driver, which serves only the others.
 * Without any, none of this code runs.
 */
#pragma once

#include "drivers/pmu/pmu.h"

/* Returns the driver to use in place of `under`: `under` itself unless the session has such events.
 * Context: boot.
 *
 * The layer's assign puts them after all others, which keep their order, and refuses with -ENODEV
 * those whose register does not exist.  Its read stores what the registers hold: 32 or 64 bits,
 * which start at any value and differ between CPUs.
 */
const struct pmu_driver *pmu_msr_layer(const struct pmu_driver *under,
                                       const struct pmu_session *session);
