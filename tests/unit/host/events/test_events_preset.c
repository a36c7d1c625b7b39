/* Tests of host/events/events_preset.c: groups of events, for a CPU. */
#include "host/events/events_preset.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

static struct run_failure failure;

/* The expansion for a CPU; NULL: refused, and `failure` says why. */
static const char *expand(const char *list, const char *cpu)
{
    static char kept[1024];
    char *expanded;

    failure = (struct run_failure){0};
    if (events_preset_expand(list, cpu, &expanded, &failure) != 0)
        return NULL;
    strcpy(kept, expanded);
    free(expanded);
    return kept;
}

static void depends_on_the_cpu(void **state)
{
    (void)state;
    assert_string_equal(expand("@bandwidth", "icx"), "LLC-misses,LLC-load-misses");
    assert_string_equal(expand("@bandwidth", "intel-6-42"), "LLC-misses"); /* Sandy Bridge */
    assert_string_equal(expand("@bandwidth", "EPYC,pmu=on"),
                        "LLC-load-misses,L2_PREFETCH_MISS_L3.ANY,r485a");
    assert_string_equal(expand("@bandwidth", "amd-25-1"),
                        "LLC-load-misses,L2_PREFETCH_MISS_L3.L2_HW_PREFETCHER,r4844");
}

static void stands_anywhere_in_a_list(void **state)
{
    (void)state;
    assert_string_equal(expand("cycles", "icx"), "cycles");
    assert_string_equal(expand("cpu/event=1,umask=2/,@bandwidth,cycles:k", "icx"),
                        "cpu/event=1,umask=2/,LLC-misses,LLC-load-misses,cycles:k");
    assert_string_equal(expand("", "icx"), "");
}

static void metrics_are_groups(void **state)
{
    (void)state;
    assert_string_equal(expand("@IPC", "icx"), "instructions,cycles");
    assert_string_equal(expand("cycles,@ipc", "icx"), "cycles,instructions"); /* each once */
    assert_string_equal(expand("@IPC,@branch_mpki", "amd-25-17"),
                        "instructions,cycles,branch-misses");
    assert_string_equal(expand("@tma1", "skx"),
                        "instructions,cycles,IDQ_UOPS_NOT_DELIVERED.CORE,UOPS_ISSUED.ANY,"
                        "UOPS_RETIRED.RETIRE_SLOTS,INT_MISC.RECOVERY_CYCLES");
    /* libpfm4 does not know these processors */
    assert_string_equal(expand("@tma1", "intel-6-173"),
                        "instructions,cycles,r19c,r10ad,r1a4,r2a4,r2c2");
    assert_string_equal(expand("@tma1", "amd-26-2"),
                        "cycles,r1000001a0,r7aa,rc1,r100001ea0,r1000060a0");
    assert_string_equal(expand("@read_bandwidth", "amd-25-17"), "r4844");
    assert_non_null(expand("@tma2", "spr"));
}

static void what_no_run_can_count_is_for_sweep(void **state)
{
    (void)state;
    assert_null(expand("cycles,@tma2", "icx"));
    assert_string_equal(failure.text,
                        "event group @tma2: with it there are 21 events, and a run counts 13 at "
                        "most, at once; 'hr sweep -e @tma2' measures them in several runs");
    assert_null(expand("@tma1", "intel-6-42"));
    assert_non_null(strstr(failure.text, "event group @tma1: its events are not known of Intel"));
    assert_null(expand("@read_bandwidth", "amd-23-49"));
}

static void refusals(void **state)
{
    (void)state;
    assert_null(expand("cycles,@memory", "icx"));
    assert_non_null(strstr(failure.text, "unknown group of events '@memory' on Intel family 6"));
    assert_non_null(strstr(failure.text, "there are @bandwidth, @tma1, @tma2 and each metric"));
    assert_null(expand("@bandwidth", "all"));
    assert_true(strstr(failure.text, "depends on the CPU") != NULL);
    assert_true(expand("@bandwidth", NULL) != NULL || strstr(failure.text, "not known") != NULL);
    assert_true(expand("@bandwidth", "host,pmu=on") != NULL ||
                strstr(failure.text, "not known") != NULL);
    assert_null(expand("@bandwidth", "all"));
    assert_non_null(strstr(failure.text, "depends on the CPU, and 'all' names none"));
    assert_null(expand("@bandwidth", "amd-16-4"));
    assert_non_null(strstr(failure.text, "its events are not known of AMD family 16"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(depends_on_the_cpu), cmocka_unit_test(stands_anywhere_in_a_list),
        cmocka_unit_test(metrics_are_groups), cmocka_unit_test(what_no_run_can_count_is_for_sweep),
        cmocka_unit_test(refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
