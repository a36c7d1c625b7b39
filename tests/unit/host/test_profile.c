/* Tests of host/profile.c: increments go to the later sample, memory is bounded, nothing is lost.
 */
#include "host/profile.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

static struct symbols *no_symbols(void)
{
    struct trace_info info;
    struct symbols *symbols;

    trace_info_init(&info);
    assert_int_equal(symbols_open(&symbols, &info, NULL), 0);
    return symbols;
}

static void increments_go_to_the_later_sample(void **state)
{
    const struct trace_slot previous = {.ip = 0x5000, .counters = {100, 7}};
    const struct trace_slot slots[] = {
        {.ip = 0x1000, .counters = {110, 7}},
        {.ip = 0x2000, .counters = {140, 9}},
        {.ip = 0x1ffc, .counters = {141, 10}},
    };
    const struct trace_samples samples = {
        .previous = &previous, .slots = slots, .count = 3, .event_count = 2};
    struct symbols *symbols = no_symbols();
    struct profile p;

    (void)state;
    assert_int_equal(profile_init(&p), 0);
    profile_add(&p, &samples);
    profile_fold(&p, symbols);
    profile_sort(&p, -1);
    assert_int_equal(p.samples, 3);
    assert_int_equal(p.sums[0], 41);
    assert_int_equal(p.row_count, 2);
    assert_int_equal(p.rows[0].start, 0x1000);
    assert_int_equal(p.rows[0].samples, 2);
    assert_int_equal(p.rows[0].sums[0], 11);
    assert_int_equal(p.rows[0].sums[1], 1);
    assert_int_equal(p.rows[1].sums[0], 30);
    profile_sort(&p, 0);
    assert_int_equal(p.rows[0].start, 0x2000);
    profile_free(&p);
    symbols_close(symbols);
}

/* What was counted while sampling paused belongs to no place; the sample itself does. */
static void pauses_belong_nowhere(void **state)
{
    const struct trace_slot previous = {.counters = {100}};
    const struct trace_slot slots[] = {
        {.ip = 0x1000, .counters = {1100}, .flags = HR_SAMPLE_RESUMED | HR_SAMPLE_KERNEL},
        {.ip = 0x1000, .counters = {9100}, .flags = HR_SAMPLE_RESUMED | HR_SAMPLE_KERNEL},
        {.ip = 0x1000, .counters = {9110}},
    };
    const struct trace_samples pause = {
        .previous = &previous, .slots = slots, .count = 2, .event_count = 1};
    const struct trace_samples after = {
        .previous = &slots[1], .slots = &slots[2], .count = 1, .event_count = 1};
    struct symbols *symbols = no_symbols();
    struct profile p;

    (void)state;
    assert_int_equal(profile_init(&p), 0);
    profile_add(&p, &pause);
    profile_add(&p, &after);
    profile_fold(&p, symbols);
    assert_int_equal(p.row_count, 1);
    assert_int_equal(p.rows[0].samples, 3);
    assert_int_equal(p.rows[0].sums[0], 10);
    assert_int_equal(p.sums[0], 10);
    profile_free(&p);
    symbols_close(symbols);
}

/* More addresses than the tables hold: folding on the way and one row for the rest. */
static void many_addresses_keep_their_sum(void **state)
{
    enum { RUNS = 600 };
    struct trace_slot *slots = calloc(TRACE_RUN_SAMPLES_MAX, sizeof *slots);
    struct trace_slot previous = {0};
    struct trace_samples samples = {
        .previous = &previous, .slots = slots, .count = TRACE_RUN_SAMPLES_MAX, .event_count = 1};
    struct symbols *symbols = no_symbols();
    struct test_random random = {3};
    uint64_t sum = 0, folds = 0;
    struct profile p;

    (void)state;
    assert_int_equal(profile_init(&p), 0);
    for (int run = 0; run < RUNS; run++) {
        for (uint32_t i = 0; i < samples.count; i++) {
            slots[i].ip = test_random_next(&random);
            slots[i].counters[0] = (i == 0 ? previous.counters[0] : slots[i - 1].counters[0]) + 3;
        }
        if (profile_full(&p)) {
            profile_fold(&p, symbols);
            folds++;
        }
        profile_add(&p, &samples);
        previous = slots[samples.count - 1];
    }
    profile_fold(&p, symbols);
    profile_sort(&p, -1);
    assert_true(folds > 3);
    assert_int_equal(p.row_count, PROFILE_ROWS_MAX);
    assert_int_equal(p.rows[0].end, 0); /* the rest is the largest row here */
    for (uint32_t i = 0; i < p.row_count; i++)
        sum += p.rows[i].samples;
    assert_int_equal(sum, (uint64_t)RUNS * TRACE_RUN_SAMPLES_MAX);
    assert_int_equal(p.sums[0], 3 * sum);
    profile_free(&p);
    symbols_close(symbols);
    free(slots);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(increments_go_to_the_later_sample),
        cmocka_unit_test(pauses_belong_nowhere),
        cmocka_unit_test(many_addresses_keep_their_sum),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
