/* The list of PMU drivers and the choice among them. */
#include "drivers/pmu/pmu.h"

#include <stddef.h>

/* All drivers, best first; ends with NULL.  The last, pmu_stub, serves every machine. */
static const struct pmu_driver *const pmu_drivers[] = {&pmu_intel, &pmu_amd, &pmu_stub, NULL};

const struct pmu_driver *pmu_probe(struct pmu_caps *caps)
{
    bool exact = caps->exact_instructions;

    for (size_t i = 0; pmu_drivers[i] != NULL; i++) {
        *caps = (struct pmu_caps){.exact_instructions = exact};
        if (pmu_drivers[i]->probe(caps))
            return pmu_drivers[i];
    }
    return NULL;
}
