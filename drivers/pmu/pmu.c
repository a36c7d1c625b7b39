/* The list of PMU drivers and the choice among them. */
#include <stddef.h>

#include "drivers/pmu/pmu.h"

const struct pmu_driver *const pmu_drivers[] = {&pmu_stub, NULL};

const struct pmu_driver *pmu_probe(struct pmu_caps *caps)
{
    for (size_t i = 0; pmu_drivers[i]; i++) {
        if (pmu_drivers[i]->probe(caps))
            return pmu_drivers[i];
    }
    return NULL;
}
