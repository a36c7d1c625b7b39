/* Tests of host/noise/noise.c: each cause is told from the others, the longest are kept. */
#include "host/noise/noise.h"

#include <stdlib.h>

#include "tests/unit/test.h"

#define INTERVAL 1000u

struct scene {
    struct trace_scan scan;
    struct noise noise;
};

static struct scene *scene_open(void)
{
    struct scene *s = calloc(1, sizeof *s);

    assert_non_null(s);
    trace_info_init(&s->scan.info);
    selection_init(&s->scan.selection);
    s->scan.info.sampling.interval_ticks = INTERVAL;
    s->scan.info.calibration.read_ticks = 50;
    assert_int_equal(noise_init(&s->noise, &s->scan), 0);
    return s;
}

static void scene_close(struct scene *s)
{
    noise_free(&s->noise);
    trace_info_free(&s->scan.info);
    free(s);
}

static void sample(struct scene *s, uint64_t time, uint16_t cost, uint8_t flags)
{
    const struct hr_chunk_header header = {.type = HR_CHUNK_DATA, .cpu = 2};
    const struct trace_slot previous = {0};
    const struct trace_slot slot = {.time = time, .cost_ticks = cost, .flags = flags, .tid = 7};
    const struct trace_samples samples = {
        .chunk = &header, .previous = &previous, .slots = &slot, .count = 1};

    assert_int_equal(noise_visitor.samples(&s->noise, &samples), 0);
}

static void record(struct scene *s, uint8_t type, const void *body, size_t bytes)
{
    const struct trace_chunk chunk = {.header = {.type = HR_CHUNK_DATA, .cpu = 2}};
    const struct trace_record r = {.type = type, .bytes = (uint16_t)bytes, .body = body};

    assert_int_equal(noise_visitor.record(&s->noise, &chunk, &r), 0);
}

static void change(struct scene *s, uint64_t time, uint32_t from, uint32_t to)
{
    const struct hr_rec_switch body = {.time = time, .from_tid = from, .to_tid = to};

    record(s, HR_REC_SWITCH, &body, sizeof body);
}

static void late_samples_have_a_cause(void **state)
{
    const struct hr_rec_syscall call = {.time = 4100, .duration_ticks = 1800, .number = 11};
    const struct hr_rec_syscall brief = {.time = 6100, .duration_ticks = 100, .number = 1};
    struct scene *s = scene_open();

    (void)state;
    sample(s, 1000, 50, 0);
    sample(s, 2000, 50, 0);
    sample(s, 4000, 50, 0); /* 1000 late: nobody knows why */
    record(s, HR_REC_SYSCALL, &call, sizeof call);
    sample(s, 6000, 50, 0); /* 1000 late: munmap */
    record(s, HR_REC_SYSCALL, &brief, sizeof brief);
    sample(s, 9000, 50, 0); /* 2000 late: not because of that call */
    sample(s, 9900, 50, HR_SAMPLE_POLLED);
    sample(s, 10000, 50, 0); /* in time: what is polled is not on the grid */
    sample(s, 50000, 50, HR_SAMPLE_RESUMED);
    noise_finish(&s->noise);
    assert_int_equal(s->noise.sums[NOISE_LATE].count, 2);
    assert_int_equal(s->noise.sums[NOISE_LATE].ticks, 3000);
    assert_int_equal(s->noise.sums[NOISE_KERNEL].count, 1);
    assert_int_equal(s->noise.kept_count, 3);
    assert_int_equal(s->noise.kept[0].time, 6000);
    assert_int_equal(s->noise.kept[0].ticks, 2000);
    assert_int_equal(s->noise.kept[2].detail, 11);
    scene_close(s);
}

static void gaps_explain_what_is_missing(void **state)
{
    const struct hr_rec_gap gap = {.time_first = 1500, .time_last = 9000, .reason = HR_GAP_INPUT};
    const struct hr_rec_lost lost = {.time_first = 21000, .time_last = 29000, .count = 9};
    struct scene *s = scene_open();

    (void)state;
    change(s, 0, 0, 7);
    sample(s, 1000, 50, 0);
    change(s, 1500, 7, 0);
    record(s, HR_REC_GAP, &gap, sizeof gap);
    change(s, 9000, 0, 7); /* the gap says it already */
    sample(s, 10000, 50, 0);
    change(s, 10500, 7, 0);
    change(s, 15500, 0, 7); /* no gap: others ran meanwhile */
    sample(s, 20000, 50, 0);
    record(s, HR_REC_LOST, &lost, sizeof lost);
    sample(s, 30000, 50, 0);
    noise_finish(&s->noise);
    assert_int_equal(s->noise.sums[NOISE_INPUT].ticks, 7500);
    assert_int_equal(s->noise.sums[NOISE_IDLE].count, 1);
    assert_int_equal(s->noise.sums[NOISE_IDLE].ticks, 5000);
    assert_int_equal(s->noise.sums[NOISE_LOST].ticks, 8000);
    assert_int_equal(s->noise.kept[0].detail, 9);
    assert_int_equal(s->noise.sums[NOISE_LATE].count, 0);
    scene_close(s);
}

static void slow_readings_are_disturbances(void **state)
{
    struct scene *s = scene_open();

    (void)state;
    sample(s, 1000, 200, 0);
    sample(s, 2000, 201, 0);
    sample(s, 3000, 60000, HR_SAMPLE_POLLED);
    noise_finish(&s->noise);
    assert_int_equal(s->noise.sums[NOISE_READING].count, 2);
    assert_int_equal(s->noise.kept[0].ticks, 59950);
    scene_close(s);
}

static void the_longest_are_kept(void **state)
{
    struct scene *s = scene_open();

    (void)state;
    for (uint64_t i = 1; i <= 3 * NOISE_KEPT_MAX; i++) {
        const struct hr_rec_gap gap = {.time_last = i * 7919 % (3 * NOISE_KEPT_MAX + 1),
                                       .reason = HR_GAP_SLEEP};

        record(s, HR_REC_GAP, &gap, sizeof gap);
    }
    noise_finish(&s->noise);
    assert_int_equal(s->noise.kept_count, NOISE_KEPT_MAX);
    assert_int_equal(s->noise.dropped, 2 * NOISE_KEPT_MAX);
    assert_int_equal(s->noise.sums[NOISE_SLEEP].count, 3 * NOISE_KEPT_MAX);
    for (uint32_t i = 0; i < NOISE_KEPT_MAX; i++)
        assert_int_equal(s->noise.kept[i].ticks, 3 * NOISE_KEPT_MAX - i);
    scene_close(s);
}

static void the_selection_cuts(void **state)
{
    const struct hr_rec_gap gap = {.time_first = 500, .time_last = 900, .reason = 99};
    struct scene *s = scene_open();

    (void)state;
    s->scan.selection.from_ns = 501;
    record(s, HR_REC_GAP, &gap, sizeof gap);
    assert_int_equal(s->noise.kept_count, 0);
    s->scan.selection.from_ns = 500;
    record(s, HR_REC_GAP, &gap, sizeof gap);
    assert_int_equal(s->noise.sums[NOISE_OTHER_GAP].count, 1);
    s->noise.least_ticks = 401;
    record(s, HR_REC_GAP, &gap, sizeof gap);
    assert_int_equal(s->noise.kept_count, 1);
    scene_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(late_samples_have_a_cause),
        cmocka_unit_test(gaps_explain_what_is_missing),
        cmocka_unit_test(slow_readings_are_disturbances),
        cmocka_unit_test(the_longest_are_kept),
        cmocka_unit_test(the_selection_cuts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
