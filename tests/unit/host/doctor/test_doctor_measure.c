/* hr doctor --measure: the figures that follow from its runs, and how they are printed. */
#include "tests/unit/test.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "host/doctor/doctor_measure.h"

#define RIGHT MEASURE_INSTRUCTIONS

/* A machine whose exits take 1 us, with a hypervisor that traps each RDPMC. */
static struct measure trapping(void)
{
    return (struct measure){
        .has_pmu = true,
        .run_count = 5,
        .runs = {{.mode = HR_MODE_OFF, .events = 1, .counts = true, .counted = RIGHT},
                 {.mode = HR_MODE_TIMER, .sample_ns = 3000, .late_ns = 2000},
                 {.mode = HR_MODE_TIMER,
                  .events = 5,
                  .sample_ns = 8500,
                  .late_ns = 2100,
                  .rdpmc_ns = 1050,
                  .rdpmc_trapped = true,
                  .counts = true,
                  .counted = RIGHT + 2},
                 {.mode = HR_MODE_OVERFLOW,
                  .events = 1,
                  .sample_ns = 6001,
                  .counts = true,
                  .counted = RIGHT - 1,
                  .skid_known = true,
                  .skid = 12.5},
                 {.mode = HR_MODE_IPI, .left_out = "too few CPUs"}},
    };
}

static void intervals_follow_from_the_cost(void **state)
{
    (void)state;
    assert_int_equal(doctor_measure_interval_ns(8500, 10), 85000);
    assert_int_equal(doctor_measure_interval_ns(8500, 50), 17000);
    assert_int_equal(doctor_measure_interval_ns(1, 90), 2); /* never less than the share */
}

static void exits_follow_from_the_events(void **state)
{
    struct measure m = trapping();

    (void)state;
    assert_int_equal(doctor_measure_exit_ns(&m), 1100);
    m.runs[1].sample_ns = 9000; /* disturbed: what one RDPMC took remains */
    assert_int_equal(doctor_measure_exit_ns(&m), 1050);
    m.runs[2].rdpmc_trapped = false;
    assert_int_equal(doctor_measure_exit_ns(&m), 0);
    m.runs[2].rdpmc_trapped = true;
    m.emulated = true;
    assert_int_equal(doctor_measure_exit_ns(&m), 0);
}

static void exactness_is_of_all_runs(void **state)
{
    struct measure m = trapping();
    struct doctor_measure_exactness e;

    (void)state;
    doctor_measure_exactness(&m, &e);
    assert_true(e.known);
    assert_int_equal(e.without, 0);
    assert_int_equal(e.least, -1);
    assert_int_equal(e.most, 2);
    m.runs[0].counts = false;
    doctor_measure_exactness(&m, &e);
    assert_false(e.known);
}

static void the_cheaper_run_and_the_worse_count_stay(void **state)
{
    struct measure m = trapping();
    struct measure_run again = m.runs[2];

    (void)state;
    again.sample_ns = 8000;
    again.late_ns = 9999;
    again.rdpmc_ns = 0; /* unknown */
    again.counted = RIGHT - 3;
    doctor_measure_merge(&m.runs[2], &again);
    assert_int_equal(m.runs[2].sample_ns, 8000);
    assert_int_equal(m.runs[2].late_ns, 2100);
    assert_int_equal(m.runs[2].rdpmc_ns, 1050);
    assert_int_equal(m.runs[2].counted, RIGHT - 3);
}

/* 10 samples, 4 overflows left out: 14 periods, and what was executed before each sample. */
static void skid_is_beyond_the_periods(void **state)
{
    struct measure_run run = {.mode = HR_MODE_OVERFLOW, .events = 1};
    static struct summary s;

    (void)state;
    trace_info_init(&s.info);
    s.samples = 10;
    s.info.event_count = 1;
    s.info.share.skipped = 4;
    s.info.sampling.period_events = 1000;
    s.last[0] = 14025;
    doctor_measure_take(&run, &s);
    assert_true(run.skid_known);
    assert_true(run.skid == 2.5);
    run.skid_known = false;
    s.last[0] = 13999; /* contradicts the periods */
    doctor_measure_take(&run, &s);
    assert_false(run.skid_known);
    trace_info_free(&s.info);
}

static void assert_table(const struct measure *m, const char *wanted, bool present)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    doctor_measure_print_table(out, m);
    fclose(out);
    if ((strstr(text, wanted) != NULL) != present)
        fail_msg("%s '%s' in:\n%s", present ? "no" : "unwanted", wanted, text);
    free(text);
}

static void the_table_has_what_was_found(void **state)
{
    struct measure m = trapping();

    (void)state;
    assert_table(&m, "KVM, with performance counters: 4 runs of a loop of 20,000,004 ", true);
    assert_table(&m, " an exit              1.100 us  ", true);
    assert_table(&m, " one RDPMC            1.050 us  trapped", true);
    assert_table(&m, " PMI skid                 12.5  ", true);
    assert_table(&m, " exactness                  +0  ", true);
    assert_table(&m, "-1 to +2 with samples\n", true);
    assert_table(&m, " timer           5     8.500 us         85.00 us         17.00 us\n", true);
    assert_table(&m, " Not measured: ipi: too few CPUs\n", true);
    assert_table(&m, "emulator's own clock", false);
    m.emulated = m.virtual_time = true;
    assert_table(&m, "the figures are of the emulator's own clock", true);
}

static void json_has_what_was_found(void **state)
{
    struct measure m = trapping();
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    json_int_t exit_ns, interval, counted;
    const char *left_out;
    json_t *object;

    (void)state;
    assert_int_equal(doctor_measure_print_json(out, &m), 0);
    fclose(out);
    object = json_loads(text, 0, NULL);
    assert_non_null(object);
    assert_int_equal(json_unpack(object, "{s:I, s:[{s:n}, {}, {s:I, s:I}, {}, {s:s}]}", "exit_ns",
                                 &exit_ns, "runs", "sample_ns", "interval_10_ns", &interval,
                                 "counted", &counted, "left_out", &left_out),
                     0);
    assert_int_equal(exit_ns, 1100);
    assert_int_equal(interval, 85000);
    assert_int_equal(counted, RIGHT + 2);
    assert_string_equal(left_out, "too few CPUs");
    json_decref(object);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intervals_follow_from_the_cost),
        cmocka_unit_test(exits_follow_from_the_events),
        cmocka_unit_test(exactness_is_of_all_runs),
        cmocka_unit_test(the_cheaper_run_and_the_worse_count_stay),
        cmocka_unit_test(skid_is_beyond_the_periods),
        cmocka_unit_test(the_table_has_what_was_found),
        cmocka_unit_test(json_has_what_was_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
