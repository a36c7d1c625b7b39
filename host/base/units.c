/* Reads times and sizes from the command line. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/units.h"

struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit time_units[] = {
    {"ns", 1},
    {"us", 1000},
    {"ms", 1000000},
    {"s", UNITS_SECOND},
    {"m", 60 * UNITS_SECOND},
    {"h", 3600 * UNITS_SECOND},
    {NULL, 0},
};

static const struct unit byte_units[] = {
    {"K", 1ull << 10},
    {"M", 1ull << 20},
    {"G", 1ull << 30},
    {"T", 1ull << 40},
    {"KB", 1ull << 10},
    {"MB", 1ull << 20},
    {"GB", 1ull << 30},
    {"TB", 1ull << 40},
    {"KiB", 1ull << 10},
    {"MiB", 1ull << 20},
    {"GiB", 1ull << 30},
    {"TiB", 1ull << 40},
    {"B", 1},
    {NULL, 0},
};

static uint64_t find_factor(const struct unit *units, const char *name)
{
    for (; units->name != NULL; units++)
        if (strcasecmp(units->name, name) == 0)
            return units->factor;
    return 0;
}

/* Parses digits with at most one point, then a unit; strtod would also take "inf", "0x10" and
 * signs. */
static int parse(const char *text, const struct unit *units, uint64_t bare_factor, uint64_t *value)
{
    size_t digits = strspn(text, "0123456789.");
    char *end;
    double number;
    double product;
    uint64_t factor;

    if (digits == 0)
        return -EINVAL;
    number = strtod(text, &end);
    if (end != text + digits)
        return -EINVAL;
    factor = *end == 0 ? bare_factor : find_factor(units, end);
    if (factor == 0)
        return -EINVAL;
    product = number * (double)factor;
    if (!(product < 9.2e18))
        return -ERANGE;
    *value = (uint64_t)(product + 0.5);
    return 0;
}

int units_parse_time(const char *text, uint64_t bare_unit_ns, uint64_t *time_ns)
{
    return parse(text, time_units, bare_unit_ns, time_ns);
}

int units_parse_bytes(const char *text, uint64_t *bytes)
{
    return parse(text, byte_units, 1, bytes);
}
