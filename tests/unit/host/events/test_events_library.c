/* libpfm4's tables: what they say of every event of Intel's CPUs, corrected where they are wrong.
 */
#include "tests/unit/test.h"

#include <stdio.h>
#include <string.h>

#include "host/events/events_cpu.h"
#include "host/events/events_library.h"
#include "host/events/events_spec.h"

#define CODE 0xffffu /* unit mask and event */

/* The sanitizer's hook: libpfm4 keeps what it allocates when it starts. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0:handle_sigill=1";
}

/* Codes that fixed counters serve or that the architecture defines, with the names of all events of
 * libpfm4 that may have them.  Every other event of these codes would count something else. */
static const struct {
    uint16_t code;
    const char *names; /* each followed by a space */
} meanings[] = {
    {0x0100, "INST_RETIRED.ANY INST_RETIRED.PREC_DIST "},
    {0x0200, "CPU_CLK_UNHALTED.CORE CPU_CLK_UNHALTED.THREAD "},
    {0x0300, "UNHALTED_REFERENCE_CYCLES CPU_CLK_UNHALTED.REF_TSC "},
    {0x0400, "TOPDOWN.SLOTS "},
    {0x003c, "UNHALTED_CORE_CYCLES CPU_CLK_UNHALTED CPU_CLK_UNHALTED.CORE CPU_CLK_UNHALTED.CORE_P "
             "CPU_CLK_UNHALTED.THREAD_P CPU_CLK_UNHALTED.TOTAL_CYCLES CPU_CLK_THREAD_UNHALTED "
             "CPU_CLK_THREAD_UNHALTED.THREAD_P CPU_CLK_THREAD_UNHALTED.RING0_TRANS "},
    {0x00c0, "INSTRUCTIONS_RETIRED INSTRUCTION_RETIRED INST_RETIRED INST_RETIRED.ANY "
             "INST_RETIRED.ANY_P "},
    {0x013c, "CPU_CLK_UNHALTED.BUS CPU_CLK_UNHALTED.REF CPU_CLK_UNHALTED.REF_P "
             "CPU_CLK_UNHALTED.REF_TSC_P CPU_CLK_UNHALTED.REF_XCLK CPU_CLK_UNHALTED.REF_XCLK_ANY "
             "CPU_CLK_THREAD_UNHALTED.REF_P CPU_CLK_THREAD_UNHALTED.REF_XCLK "
             "CPU_CLK_THREAD_UNHALTED.REF_XCLK_ANY "},
    {0x4f2e, "LLC_REFERENCES LAST_LEVEL_CACHE_REFERENCES LONGEST_LAT_CACHE.REFERENCE "
             "LONGEST_LAT_CACHE.REFERENCES L3_LAT_CACHE.REFERENCE L2_REQUESTS "
             "L2_REQUESTS.REFERENCE LLC_RQSTS LLC_RQSTS.ANY L2_RQSTS.EXCL_PREFETCH "},
    {0x412e, "LLC_MISSES LAST_LEVEL_CACHE_MISSES LONGEST_LAT_CACHE LONGEST_LAT_CACHE.MISS "
             "L3_LAT_CACHE.MISS L2_REQUESTS.MISS LLC_RQSTS.MISS "},
    {0x00c4, "BRANCH_INSTRUCTIONS_RETIRED BR_INST_RETIRED BR_INST_RETIRED.ALL_BRANCHES "
             "BR_INST_RETIRED.ANY "},
    {0x00c5, "MISPREDICTED_BRANCH_RETIRED BR_MISP_RETIRED BR_MISP_RETIRED.ALL_BRANCHES "
             "BR_MISP_RETIRED.ANY BR_INST_RETIRED_MISPRED BR_MISP_INST_RETIRED "
             "BR_MISP_INST_RETIRED.ALL_BRANCHES BR_MISP_INST_RETIRED.ANY "},
    {0x01a4, "TOPDOWN.SLOTS_P "},
};

static bool is_listed(const char *names, const char *name)
{
    size_t bytes = strlen(name);

    for (; *names != 0; names += strcspn(names, " ") + 1)
        if (strncmp(names, name, bytes) == 0 && names[bytes] == ' ')
            return true;
    return false;
}

static bool may_have(uint16_t code, const char *name)
{
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
        if (meanings[i].code == code)
            return is_listed(meanings[i].names, name);
    return (code & 0xff) != 0; /* event 00H is none of a general counter */
}

struct table {
    const char *name;
    unsigned seen, wrong;
};

static void check_name(struct table *table, const char *name)
{
    uint64_t select, companion;

    if (!events_library_encode(table->name, name, EVENTS_SELECT_USR, &select, &companion))
        return; /* needs a second unit mask */
    table->seen++;
    if (!may_have(select & CODE, name)) {
        print_message("%s::%s is %04x\n", table->name, name, (unsigned)(select & CODE));
        table->wrong++;
    }
}

/* An event with a unit mask, and without one: some have a default. */
static void check_event(void *context, const char *name, const char *description)
{
    char alone[192];

    (void)description;
    snprintf(alone, sizeof alone, "%.*s", (int)strcspn(name, "."), name);
    check_name(context, alone);
    check_name(context, name);
}

static void no_event_counts_what_another_is(void **state)
{
    struct events_cpu cpu;
    struct table table = {0};
    unsigned tables = 0;

    (void)state;
    for (size_t i = 0; (table.name = events_cpu_table_at(i)) != NULL; i++) {
        assert_int_equal(events_cpu_of_table(&cpu, table.name), 0);
        if (cpu.vendor != RUN_CPU_INTEL)
            continue;
        table.seen = 0;
        events_library_list(table.name, check_event, &table);
        assert_true(table.seen > 50);
        tables++;
    }
    assert_true(tables > 20);
    assert_int_equal(table.wrong, 0);
}

static void corrects_what_is_known_to_be_wrong(void **state)
{
    static const struct {
        const char *table, *name;
        uint64_t select;
    } known[] = {
        {"icx", "TOPDOWN.BACKEND_BOUND_SLOTS", 0x02a4},
        {"icl", "topdown:backend_bound_slots:c=1", 0x10002a4},
        {"icx", "TOPDOWN.BR_MISPREDICT_SLOTS", 0x08a4},
        {"spr", "TOPDOWN.BACKEND_BOUND_SLOTS", 0x02a4},
        {"spr", "TOPDOWN.BAD_SPEC_SLOTS", 0x04a4},
        {"spr", "TOPDOWN.BR_MISPREDICT_SLOTS", 0x08a4},
        {"spr", "TOPDOWN.MEMORY_BOUND_SLOTS", 0x10a4},
        {"spr", "TOPDOWN.SLOTS", 0x0400}, /* fixed counter 3 */
        {"spr", "TOPDOWN.SLOTS_P", 0x01a4},
        {"glm", "CPU_CLK_UNHALTED", 0x003c},
        {"glm", "CPU_CLK_UNHALTED.REF", 0x013c},
        {"glm", "CPU_CLK_UNHALTED.REF_TSC", 0x0300},
        {"spr", "EXE.AMX_BUSY", 0x02b7},
    };

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        uint64_t select, companion;

        assert_true(events_library_encode(known[i].table, known[i].name, EVENTS_SELECT_USR, &select,
                                          &companion));
        assert_int_equal(select, known[i].select | EVENTS_SELECT_USR);
        assert_int_equal(companion, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_event_counts_what_another_is),
        cmocka_unit_test(corrects_what_is_known_to_be_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
