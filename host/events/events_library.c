/* Asks libpfm4. */
#include "host/events/events_library.h"

#include <perfmon/pfmlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/events/events_spec.h"

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
        unsetenv(INACTIVE); /* the emulator must not inherit it */
    }
    return works;
}

/* Where libpfm4 (4.13) contradicts Intel's event lists (perfmon, core events of each model).  Event
 * 00H does not exist for general counters: the kernel takes its unit masks 01H to 04H for the fixed
 * counters 0 to 3, which count instructions, cycles, reference cycles and slots.  The names are
 * libpfm4's full names, without the table. */
static const struct correction {
    const char *tables; /* each followed by a space */
    const char *name;
    uint16_t wrong, right; /* unit mask and event code */
    bool no_companion;
} corrections[] = {
    {"icl icx spr ", "TOPDOWN:BACKEND_BOUND_SLOTS:", 0x0200, 0x02a4, false},
    {"icl icx spr ", "TOPDOWN:BAD_SPEC_SLOTS:", 0x0400, 0x04a4, false},
    {"icl icx spr ", "TOPDOWN:BR_MISPREDICT_SLOTS:", 0x0800, 0x08a4, false},
    {"icl icx spr ", "TOPDOWN:MEMORY_BOUND_SLOTS:", 0x1000, 0x10a4, false},
    {"glm ", "CPU_CLK_UNHALTED:CORE_P:", 0x0000, 0x003c, false},
    {"glm ", "CPU_CLK_UNHALTED:REF:", 0x0100, 0x013c, false},
    /* B7H was off-core responses in older models */
    {"spr ", "EXE:AMX_BUSY:", 0x02b7, 0x02b7, true},
};

/* Shares of the slots, which Intel's PERF_METRICS register holds and no counter counts: newer
 * tables list them with event 00H. */
#define METRICS "TOPDOWN_M"

/* Returns whether the word is in a list, in which a space follows each word. */
static bool in_list(const char *list, const char *word, size_t bytes)
{
    for (; *list != 0; list += strcspn(list, " ") + 1)
        if (strncmp(list, word, bytes) == 0 && list[bytes] == ' ')
            return true;
    return false;
}

/* `full` is TABLE::NAME:MODIFIERS. */
static void correct(const char *full, uint64_t *select, uint64_t *companion)
{
    const char *end = strstr(full, "::");

    for (size_t i = 0; end != NULL && i < sizeof corrections / sizeof corrections[0]; i++) {
        const struct correction *c = &corrections[i];

        if ((*select & 0xffff) != c->wrong || !in_list(c->tables, full, (size_t)(end - full)) ||
            strncmp(end + 2, c->name, strlen(c->name)) != 0)
            continue;
        *select = (*select & ~0xffffull) | c->right;
        if (c->no_companion)
            *companion = 0;
        return;
    }
}

bool events_library_encode(const char *table, const char *name, uint64_t rings, uint64_t *select,
                           uint64_t *companion)
{
    char full[FULL_NAME_BYTES];
    char *spelled = NULL;
    pfm_pmu_encode_arg_t encoded = {.size = sizeof encoded, .fstr = &spelled};
    int levels =
        (rings & EVENTS_SELECT_USR ? PFM_PLM3 : 0) | (rings & EVENTS_SELECT_OS ? PFM_PLM0 : 0);
    bool good;

    if (strncmp(name, METRICS, sizeof METRICS - 1) == 0)
        return false;
    if (!start() || snprintf(full, sizeof full, "%s::%s", table, name) >= (int)sizeof full ||
        pfm_get_os_event_encoding(full, levels, PFM_OS_NONE, &encoded) != PFM_SUCCESS)
        return false;
    good = encoded.count == 1 || encoded.count == 2;
    if (good) {
        *select = encoded.codes[0] & ~(EVENTS_SELECT_INT | EVENTS_SELECT_EN);
        *companion = encoded.count == 2 ? encoded.codes[1] : 0;
        if (spelled != NULL)
            correct(spelled, select, companion);
    }
    free(spelled);
    free(encoded.codes);
    return good;
}

/* Calls visit for the event's unit masks; returns false if it has none. */
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
            strcmp(event.name, METRICS) != 0 && !list_masks(&event, visit, context))
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

int events_library_counters(const char *table, uint32_t *general, uint32_t *fixed)
{
    for (int i = PFM_PMU_NONE; start() && i < PFM_PMU_MAX; i++) {
        pfm_pmu_info_t pmu = {.size = sizeof pmu};

        if (pfm_get_pmu_info((pfm_pmu_t)i, &pmu) != PFM_SUCCESS || strcmp(pmu.name, table) != 0)
            continue;
        *general = (uint32_t)pmu.num_cntrs;
        *fixed = (uint32_t)pmu.num_fixed_cntrs;
        return 0;
    }
    return -1;
}
