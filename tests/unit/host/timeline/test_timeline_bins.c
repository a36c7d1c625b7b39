/* Tests of host/timeline/timeline_bins.c and timeline_count.c: splits in proportion, whole sums. */
#include "host/timeline/timeline_bins.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

struct scene {
    struct trace_scan scan;
    struct timeline timeline;
    struct trace_slot last[4]; /* of each CPU */
};

static struct scene *scene_open(bool by_thread, uint64_t last, uint64_t bin_ns, uint64_t from,
                                uint64_t to)
{
    struct scene *s = calloc(1, sizeof *s);

    assert_non_null(s);
    trace_info_init(&s->scan.info);
    selection_init(&s->scan.selection);
    s->scan.selection.from_ns = from;
    s->scan.selection.to_ns = to;
    s->scan.info.event_count = 2;
    assert_int_equal(timeline_init(&s->timeline, &s->scan, by_thread, last, bin_ns, 100), 0);
    return s;
}

static void scene_close(struct scene *s)
{
    timeline_free(&s->timeline);
    trace_info_free(&s->scan.info);
    free(s);
}

static void sample(struct scene *s, uint16_t cpu, uint32_t tid, uint64_t time, uint64_t rise)
{
    const struct hr_chunk_header header = {.type = HR_CHUNK_DATA, .cpu = cpu};
    struct trace_slot previous = s->last[cpu], slot = previous;

    slot.time = time;
    slot.tid = tid;
    slot.counters[0] += rise;
    slot.counters[1] += 2 * rise;
    const struct trace_samples samples = {
        .chunk = &header, .previous = &previous, .slots = &slot, .count = 1, .event_count = 2};
    if (selection_has_thread(&s->scan.selection, tid))
        timeline_samples(&s->timeline, &samples);
    s->last[cpu] = slot;
}

static void record(struct scene *s, uint16_t cpu, uint8_t type, const void *body, size_t bytes)
{
    const struct trace_chunk chunk = {.header = {.type = HR_CHUNK_DATA, .cpu = cpu}};
    const struct trace_record r = {.type = type, .bytes = (uint16_t)bytes, .body = body};

    timeline_record(&s->timeline, &chunk, &r);
}

static void change(struct scene *s, uint16_t cpu, uint64_t time, uint32_t from, uint32_t to)
{
    const struct hr_rec_switch body = {.time = time, .from_tid = from, .to_tid = to};

    record(s, cpu, HR_REC_SWITCH, &body, sizeof body);
}

static void gap(struct scene *s, uint16_t cpu, uint64_t first, uint64_t last)
{
    const struct hr_rec_gap body = {.time_first = first, .time_last = last};

    record(s, cpu, HR_REC_GAP, &body, sizeof body);
}

static uint64_t word(struct scene *s, uint32_t group, uint64_t bin, uint32_t number)
{
    assert_true(group < s->timeline.group_count && bin < s->timeline.bins);
    return timeline_bin(&s->timeline, &s->timeline.groups[group], bin)[number];
}

static uint64_t sum(struct scene *s, uint32_t number)
{
    uint64_t total = 0;

    for (uint32_t g = 0; g < s->timeline.group_count; g++)
        for (uint64_t bin = 0; bin < s->timeline.bins; bin++)
            total += word(s, g, bin, number);
    return total;
}

static void counts_are_split_in_proportion(void **state)
{
    struct scene *s = scene_open(false, 100, 10, 0, UINT64_MAX);

    (void)state;
    assert_int_equal(s->timeline.bins, 10);
    sample(s, 0, 1, 5, 50); /* all in bin 0 */
    sample(s, 0, 1, 25, 40); /* 5, 10 and 5 ns: 10, 20, 10 */
    sample(s, 0, 1, 29, 1);
    timeline_finish(&s->timeline);
    assert_int_equal(word(s, 0, 0, TIMELINE_EVENTS), 60);
    assert_int_equal(word(s, 0, 1, TIMELINE_EVENTS), 20);
    assert_int_equal(word(s, 0, 2, TIMELINE_EVENTS), 11);
    assert_int_equal(word(s, 0, 2, TIMELINE_EVENTS + 1), 22);
    assert_int_equal(word(s, 0, 2, TIMELINE_SAMPLES), 2);
    assert_int_equal(word(s, 0, 0, TIMELINE_RUN_TICKS), 10);
    assert_int_equal(word(s, 0, 2, TIMELINE_RUN_TICKS), 9);
    scene_close(s);
}

/* What was counted up to a sample after a sleep was counted while the program ran. */
static void nothing_is_counted_while_nothing_runs(void **state)
{
    struct scene *s = scene_open(false, 100, 10, 0, UINT64_MAX);

    (void)state;
    change(s, 0, 0, 0, 7);
    sample(s, 0, 7, 10, 10);
    change(s, 0, 15, 7, 0);
    gap(s, 0, 15, 75);
    change(s, 0, 75, 0, 7);
    sample(s, 0, 7, 80, 10); /* ran 5 ns before the gap and 5 after it */
    timeline_finish(&s->timeline);
    assert_int_equal(word(s, 0, 1, TIMELINE_EVENTS), 5);
    assert_int_equal(word(s, 0, 1, TIMELINE_RUN_TICKS), 5);
    for (uint64_t bin = 2; bin < 7; bin++)
        assert_int_equal(word(s, 0, bin, TIMELINE_EVENTS) + word(s, 0, bin, TIMELINE_RUN_TICKS), 0);
    assert_int_equal(word(s, 0, 7, TIMELINE_EVENTS), 5);
    assert_int_equal(sum(s, TIMELINE_RUN_TICKS), 20);
    scene_close(s);
}

static void threads_have_their_own_time(void **state)
{
    struct scene *s = scene_open(true, 100, 50, 0, UINT64_MAX);

    (void)state;
    change(s, 0, 0, 0, 2);
    sample(s, 0, 2, 20, 20);
    change(s, 0, 30, 2, 1);
    sample(s, 0, 1, 40, 20);
    change(s, 0, 60, 1, 2);
    sample(s, 0, 2, 70, 7);
    timeline_finish(&s->timeline);
    assert_int_equal(s->timeline.group_count, 2);
    assert_int_equal(s->timeline.groups[0].key, 1);
    assert_int_equal(word(s, 0, 0, TIMELINE_RUN_TICKS), 20); /* thread 1: 30 to 60 */
    assert_int_equal(word(s, 0, 1, TIMELINE_RUN_TICKS), 10);
    assert_int_equal(word(s, 1, 0, TIMELINE_RUN_TICKS), 30);
    assert_int_equal(word(s, 1, 1, TIMELINE_RUN_TICKS), 10);
    assert_int_equal(sum(s, TIMELINE_EVENTS), 47);
    scene_close(s);
}

static void a_part_of_the_time_has_its_part_of_the_counts(void **state)
{
    struct scene *s = scene_open(false, 1000, 10, 20, 39);

    (void)state;
    assert_int_equal(s->timeline.bins, 2);
    s->last[0] = (struct trace_slot){.time = 15};
    sample(s, 0, 1, 25, 10); /* half of it lies before */
    sample(s, 0, 1, 35, 10);
    timeline_finish(&s->timeline);
    assert_int_equal(word(s, 0, 0, TIMELINE_EVENTS), 10);
    assert_int_equal(word(s, 0, 1, TIMELINE_EVENTS), 5);
    assert_int_equal(timeline_bin_start_ns(&s->timeline, 0), 20);
    assert_int_equal(timeline_bin_start_ns(&s->timeline, 2), 39);
    scene_close(s);
}

static void the_rest_up_to_the_total_is_counted(void **state)
{
    struct scene *s = scene_open(false, 100, 10, 0, UINT64_MAX);

    (void)state;
    sample(s, 0, 1, 50, 500);
    s->scan.info.has_exit = true;
    s->scan.info.exit.time = 100;
    s->scan.info.events[0].has_total = true;
    s->scan.info.events[0].total = 777;
    timeline_finish(&s->timeline);
    assert_int_equal(sum(s, TIMELINE_EVENTS), 777);
    assert_int_equal(word(s, 0, 9, TIMELINE_EVENTS), 56);
    assert_int_equal(s->timeline.unplaced[0], 0);
    scene_close(s);
}

static void of_several_cpus_the_rest_is_said(void **state)
{
    struct scene *s = scene_open(false, 100, 10, 0, UINT64_MAX);

    (void)state;
    sample(s, 0, 1, 50, 500);
    sample(s, 3, 2, 60, 100);
    s->scan.info.events[0].has_total = true;
    s->scan.info.events[0].total = 777;
    timeline_finish(&s->timeline);
    assert_int_equal(sum(s, TIMELINE_EVENTS), 600);
    assert_int_equal(s->timeline.unplaced[0], 177);
    scene_close(s);
}

/* Whatever switches and sleeps: nothing counted is lost, and no CPU runs more than all the time. */
static void sums_are_exact(void **state)
{
    struct test_random r = {4711};

    (void)state;
    for (int round = 0; round < 50; round++) {
        struct scene *s =
            scene_open(round % 2, 20000, 1 + test_random_below(&r, 300), 0, UINT64_MAX);
        uint64_t time = 0, total = 0;
        uint32_t tid = 1;

        for (int i = 0; i < 400; i++) {
            uint64_t rise = test_random_below(&r, 1000), kind = test_random_below(&r, 8);

            time += test_random_below(&r, 60);
            if (kind == 0) {
                change(s, 0, time, tid, tid + 1);
                tid++;
            } else if (kind == 1) {
                change(s, 0, time, tid, 0);
                time += test_random_below(&r, 60);
                change(s, 0, time, 0, tid);
            } else if (kind == 2) {
                gap(s, 0, time, time + 20);
                time += 20;
            } else {
                sample(s, 0, tid, time, rise);
                total += rise;
            }
        }
        timeline_finish(&s->timeline);
        assert_int_equal(sum(s, TIMELINE_EVENTS), total);
        assert_int_equal(sum(s, TIMELINE_EVENTS + 1), 2 * total);
        assert_true(sum(s, TIMELINE_RUN_TICKS) <= time);
        for (uint64_t bin = 0; bin < s->timeline.bins && round % 2 == 0; bin++)
            assert_true(word(s, 0, bin, TIMELINE_RUN_TICKS) <= s->timeline.bin_ns ||
                        bin + 1 == s->timeline.bins);
        scene_close(s);
    }
}

static void hostile_times_are_in_bounds(void **state)
{
    struct scene *s = scene_open(false, 1000, 10, 0, UINT64_MAX);

    (void)state;
    for (int i = 0; i < 100000; i++) /* there and back again: no stretch is split twice */
        sample(s, 0, 1, i % 2 ? UINT64_MAX : 0, 1);
    change(s, 0, UINT64_MAX, 1, 0);
    change(s, 0, 5, 0, 9);
    gap(s, 0, UINT64_MAX, 3);
    timeline_finish(&s->timeline);
    assert_int_equal(sum(s, TIMELINE_EVENTS), 100000);
    scene_close(s);
}

static void too_many_bins_are_refused(void **state)
{
    struct scene *s = calloc(1, sizeof *s);

    (void)state;
    assert_non_null(s);
    trace_info_init(&s->scan.info);
    selection_init(&s->scan.selection);
    assert_int_equal(timeline_init(&s->timeline, &s->scan, false, 10000000000u, 10, 100), -E2BIG);
    assert_int_equal(timeline_bin_least(&s->timeline), 5000);
    assert_int_equal(timeline_init(&s->timeline, &s->scan, false, 10000000000u, 5000, 100), 0);
    timeline_free(&s->timeline);
    assert_int_equal(timeline_init(&s->timeline, &s->scan, false, UINT64_MAX, 0, 100), 0);
    assert_true(s->timeline.bins <= 100);
    scene_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_split_in_proportion),
        cmocka_unit_test(nothing_is_counted_while_nothing_runs),
        cmocka_unit_test(threads_have_their_own_time),
        cmocka_unit_test(a_part_of_the_time_has_its_part_of_the_counts),
        cmocka_unit_test(the_rest_up_to_the_total_is_counted),
        cmocka_unit_test(of_several_cpus_the_rest_is_said),
        cmocka_unit_test(sums_are_exact),
        cmocka_unit_test(hostile_times_are_in_bounds),
        cmocka_unit_test(too_many_bins_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
