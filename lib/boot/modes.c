/* The names of sampling modes, and what they do. */
#include "lib/boot/modes.h"

#include <stddef.h>
#include <string.h>

#include "include/hr_format.h"
#include "lib/array.h"

static const char *const names[] = {
    [HR_MODE_OFF] = "off",     [HR_MODE_TIMER] = "timer",
    [HR_MODE_IPI] = "ipi",     [HR_MODE_OVERFLOW] = "overflow",
    [HR_MODE_PEBS] = "pebs",   [HR_MODE_INSTRUCTED] = "instructed",
    [HR_MODE_EXACT] = "exact", [HR_MODE_LATENCY] = "latency",
};

const char *modes_name(uint32_t mode)
{
    return mode < ARRAY_COUNT(names) ? names[mode] : NULL;
}

int modes_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        if (strcmp(name, names[i]) == 0)
            return (int)i;
    }
    return -1;
}

bool modes_sample(uint32_t mode)
{
    return mode != HR_MODE_OFF && mode != HR_MODE_EXACT && mode != HR_MODE_LATENCY;
}
