/* Tests of host/trace/event_kind.c: names of Linux, Intel and AMD. */
#include "host/trace/event_kind.h"

#include <stdio.h>

#include "tests/unit/test.h"

static void set(struct trace_info *info, uint32_t i, const char *name, uint32_t flags)
{
    snprintf(info->events[i].name, sizeof info->events[i].name, "%s", name);
    info->events[i].meta.flags = flags;
    if (i >= info->event_count)
        info->event_count = i + 1;
}

static void lines_are_known_by_name(void **state)
{
    static const char *const lines[] = {"LLC-misses",
                                        "cache-misses",
                                        "L1-dcache-load-misses",
                                        "LLC-load-misses:u",
                                        "L2_RQSTS.MISS",
                                        "L2_LINES_IN.ALL",
                                        "MEM_LOAD_RETIRED:L3_MISS",
                                        "LONGEST_LAT_CACHE.MISS",
                                        "OCR:DEMAND_RFO_L3_MISS"};
    static const char *const others[] = {"instructions",
                                         "branch-misses",
                                         "dTLB-load-misses",
                                         "cache-references",
                                         "BR_MISP_RETIRED.ALL_BRANCHES",
                                         "CYCLE_ACTIVITY.STALLS_L3_MISS",
                                         "LLC-loads"};

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        assert_true(event_kind_lines(lines[i]));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_false(event_kind_lines(others[i]));
}

static void instructions_and_cycles_are_of_the_same_rings(void **state)
{
    struct trace_info info;

    (void)state;
    trace_info_init(&info);
    assert_int_equal(event_kind_instructions(&info), -1);
    set(&info, 0, "cpu-cycles:k", HR_EVENT_KERNEL);
    set(&info, 1, "INST_RETIRED:u", HR_EVENT_USER);
    assert_int_equal(event_kind_instructions(&info), 1);
    assert_int_equal(event_kind_cycles(&info), -1);
    set(&info, 2, "CPU_CLK_UNHALTED:THREAD", HR_EVENT_USER);
    assert_int_equal(event_kind_cycles(&info), 2);
    set(&info, 1, "INST_RETIRED.PREC_DIST_X", HR_EVENT_USER);
    assert_int_equal(event_kind_instructions(&info), -1);
    trace_info_free(&info);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_known_by_name),
        cmocka_unit_test(instructions_and_cycles_are_of_the_same_rings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
