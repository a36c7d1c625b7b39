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

static void refusals(void **state)
{
    (void)state;
    assert_null(expand("cycles,@memory", "icx"));
    assert_string_equal(failure.text, "unknown group of events '@memory'; there is @bandwidth");
    assert_null(expand("@bandwidth", "all"));
    assert_true(strstr(failure.text, "depends on the CPU") != NULL);
    assert_true(expand("@bandwidth", NULL) != NULL || strstr(failure.text, "has none") != NULL);
    assert_true(expand("@bandwidth", "host,pmu=on") != NULL ||
                strstr(failure.text, "has none") != NULL);
    assert_null(expand("@bandwidth", "all"));
    assert_non_null(strstr(failure.text, "depends on the CPU, and 'all' names none"));
    assert_null(expand("@bandwidth", "amd-16-4"));
    assert_non_null(strstr(failure.text, "has none of its events"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(depends_on_the_cpu),
        cmocka_unit_test(stands_anywhere_in_a_list),
        cmocka_unit_test(refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
