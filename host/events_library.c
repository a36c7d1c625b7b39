/* Asks libpfm4. */
#include "host/events_library.h"

#include <perfmon/pfmlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/events_spec.h"

#define FULL_NAME_BYTES 192
#define INACTIVE "LIBPFM_ENCODE_INACTIVE" /* tables of CPUs other than this one */

static bool start(void)
{
    static bool tried;
    static bool works;

    if (!tried) {
        tried = true;
        setenv(INACTIVE, "1", 1);
        works = pfm_initialize() == PFM_SUCCESS;
        unsetenv(INACTIVE); /* not for the emulator */
    }
    return works;
}

bool events_library_encode(const char *table, const char *name, uint64_t rings, uint64_t *select,
                           uint64_t *companion)
{
    char full[FULL_NAME_BYTES];
    pfm_pmu_encode_arg_t encoded = {.size = sizeof encoded};
    int levels =
        (rings & EVENTS_SELECT_USR ? PFM_PLM3 : 0) | (rings & EVENTS_SELECT_OS ? PFM_PLM0 : 0);
    bool good;

    if (!start() || snprintf(full, sizeof full, "%s::%s", table, name) >= (int)sizeof full ||
        pfm_get_os_event_encoding(full, levels, PFM_OS_NONE, &encoded) != PFM_SUCCESS)
        return false;
    good = encoded.count == 1 || encoded.count == 2;
    if (good) {
        *select = encoded.codes[0] & ~(EVENTS_SELECT_INT | EVENTS_SELECT_EN);
        *companion = encoded.count == 2 ? encoded.codes[1] : 0;
    }
    free(encoded.codes);
    return good;
}

/* Calls visit for the event's unit masks; false when it has none. */
static bool list_masks(const pfm_event_info_t *event, events_library_visit *visit, void *context)
{
    bool found = false;

    for (int i = 0; i < event->nattrs; i++) {
        pfm_event_attr_info_t mask = {.size = sizeof mask};
        char name[FULL_NAME_BYTES];

        if (pfm_get_event_attr_info(event->idx, i, PFM_OS_NONE, &mask) != PFM_SUCCESS ||
            mask.type != PFM_ATTR_UMASK)
            continue;
        found = true;
        snprintf(name, sizeof name, "%s.%s", event->name, mask.name);
        visit(context, name, mask.desc);
    }
    return found;
}

static void list_events(const pfm_pmu_info_t *pmu, events_library_visit *visit, void *context)
{
    for (int i = pmu->first_event; i >= 0; i = pfm_get_event_next(i)) {
        pfm_event_info_t event = {.size = sizeof event};

        if (pfm_get_event_info(i, PFM_OS_NONE, &event) == PFM_SUCCESS &&
            !list_masks(&event, visit, context))
            visit(context, event.name, event.desc);
    }
}

void events_library_list(const char *table, events_library_visit *visit, void *context)
{
    if (!start())
        return;
    for (int i = PFM_PMU_NONE; i < PFM_PMU_MAX; i++) {
        pfm_pmu_info_t pmu = {.size = sizeof pmu};

        if (pfm_get_pmu_info((pfm_pmu_t)i, &pmu) == PFM_SUCCESS && strcmp(pmu.name, table) == 0) {
            list_events(&pmu, visit, context);
            return;
        }
    }
}
