/* Matches a name or an address against the functions that have samples. */
#include "host/annotate/annotate_choose.h"

#include <stdio.h>
#include <stdlib.h>

#include "host/base/error.h"
#include "host/base/nearest.h"
#include "host/draw/function_name.h"

#define LISTED_MAX 8u /* of functions with one name */

static const struct place *row_at(const struct profile *profile, uint32_t i)
{
    return &profile->places.all[profile->rows.all[i].place];
}

/* "0x401000", and "[0x401000-0x402000)" as hr report shows code without names. */
static bool parse_address(const char *wanted, uint64_t *address)
{
    bool range = wanted[0] == '[';
    char *end;

    wanted += range;
    if (wanted[0] != '0' || (wanted[1] | 0x20) != 'x')
        return false;
    *address = strtoull(wanted, &end, 16);
    return *end == (range ? '-' : 0);
}

static const struct place *find_address(const struct profile *profile, uint64_t address)
{
    for (uint32_t i = 0; i < profile->rows.count; i++) {
        const struct place *row = row_at(profile, i);

        if (address >= row->start && address < row->end)
            return row;
    }
    error_print(
        "0x%llx: no sample is in the code there; 'hr report' lists the functions that have samples",
        (unsigned long long)address);
    return NULL;
}

static void report_unknown(const struct profile *profile, const char *wanted)
{
    struct nearest nearest;
    uint32_t names = 0;
    char list[NEAREST_COUNT * (NEAREST_NAME_BYTES + 2)];

    nearest_init(&nearest, wanted);
    for (uint32_t i = 0; i < profile->rows.count; i++) {
        const char *name = row_at(profile, i)->name;

        if (name == NULL)
            continue;
        function_offer_nearest(&nearest, name);
        names++;
    }
    if (nearest.count != 0)
        error_print("%s: no sample is in a function of that name; the nearest names: %s", wanted,
                    nearest_list(&nearest, list, sizeof list));
    else if (names != 0)
        error_print("%s: no sample is in a function of that name; 'hr report' lists the functions "
                    "that have samples",
                    wanted);
    else
        error_print("%s: the trace's samples are in no function with a name; name an address, "
                    "0x..., or the program with --program",
                    wanted);
}

static void report_ambiguous(const struct profile *profile, const char *wanted,
                             enum function_match best, uint32_t count)
{
    char list[LISTED_MAX * 200] = "";
    size_t used = 0;
    uint32_t listed = 0;

    for (uint32_t i = 0; i < profile->rows.count && listed < LISTED_MAX; i++) {
        const struct place *row = row_at(profile, i);

        if (function_matches(wanted, row->name, row->object) != best)
            continue;
        used += (size_t)snprintf(
            list + used, sizeof list - used, "%s%.64s@%.64s at 0x%llx", listed++ != 0 ? ", " : "",
            row->name, row->object != NULL ? row->object : "", (unsigned long long)row->start);
    }
    error_print(
        "%s: %u functions have that name: %s%s; choose one by FUNCTION@OBJECT or by its address",
        wanted, count, list, count > listed ? ", ..." : "");
}

const struct place *annotate_choose(const struct profile *profile, const char *wanted)
{
    enum function_match best = FUNCTION_OTHER;
    const struct place *found = NULL;
    uint32_t count = 0;
    uint64_t address;

    if (parse_address(wanted, &address))
        return find_address(profile, address);
    for (uint32_t i = 0; i < profile->rows.count; i++) {
        const struct place *row = row_at(profile, i);
        enum function_match match = function_matches(wanted, row->name, row->object);

        if (match == FUNCTION_OTHER || match < best)
            continue;
        count = match == best ? count + 1 : 1;
        best = match;
        found = row;
    }
    if (count == 0)
        report_unknown(profile, wanted);
    else if (count > 1)
        report_ambiguous(profile, wanted, best, count);
    return count == 1 ? found : NULL;
}
