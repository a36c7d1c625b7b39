/* Tests of host/scan/skew.c: which samples make a grid point, and how far apart they are. */
#include "host/scan/skew.h"

#include "tests/unit/test.h"

#define START 1000u
#define INTERVAL 100u

static struct skew skew;

static int open_skew(void **state)
{
    struct trace_info info = {.has_clock = true};

    (void)state;
    info.clock.start_ticks = START;
    info.sampling.mode = HR_MODE_IPI;
    info.sampling.interval_ticks = INTERVAL;
    assert_int_equal(skew_init(&skew), 0);
    assert_int_equal(skew_set_grid(&skew, &info), 0);
    return 0;
}

static int close_skew(void **state)
{
    (void)state;
    skew_free(&skew);
    return 0;
}

static void add(uint16_t cpu, uint64_t time, uint8_t flags)
{
    const struct hr_chunk_header chunk = {.cpu = cpu};
    const struct trace_slot slot = {.time = time, .flags = flags};
    const struct trace_samples samples = {.chunk = &chunk, .slots = &slot, .count = 1};

    skew_add(&skew, &samples);
}

static void a_point_is_from_its_time_to_the_next(void **state)
{
    (void)state;
    add(1, START + 100, 0);
    add(2, START + 149, 0);
    add(3, START + 120, 0);
    add(1, START + 200, 0); /* the next point, alone */
    skew_finish(&skew);
    assert_int_equal(skew.spreads.count, 1);
    assert_int_equal(skew.spreads.largest, 49);
}

static void chunks_come_out_of_step(void **state)
{
    (void)state;
    for (uint64_t k = 1; k <= 1000; k++)
        add(1, START + k * INTERVAL + 3, 0);
    for (uint64_t k = 1; k <= 1000; k++)
        add(2, START + k * INTERVAL, 0);
    skew_finish(&skew);
    assert_int_equal(skew.spreads.count, 1000);
    assert_int_equal(histogram_percentile(&skew.spreads, 0.01), 3);
    assert_int_equal(skew.spreads.largest, 3);
}

static void a_far_point_closes_an_old_one(void **state)
{
    (void)state;
    add(1, START, 0);
    add(2, START + 7, 0);
    add(1, START + (uint64_t)SKEW_POINTS * INTERVAL, 0);
    assert_int_equal(skew.spreads.count, 1);
    assert_int_equal(skew.spreads.largest, 7);
    add(2, START + 9, 0); /* too late: a point of its own, closed by nothing else */
    skew_finish(&skew);
    assert_int_equal(skew.spreads.count, 1);
}

static void two_of_one_cpu_are_no_spread(void **state)
{
    (void)state;
    add(1, START, 0);
    add(1, START + 50, 0);
    skew_finish(&skew);
    assert_int_equal(skew.spreads.count, 0);
}

static void late_and_polled_samples_are_left_out(void **state)
{
    (void)state;
    add(1, START, 0);
    add(2, START + 60, HR_SAMPLE_LATE);
    add(3, START + 10, HR_SAMPLE_POLLED);
    add(4, START - 1, 0); /* before the grid: a hostile trace */
    skew_finish(&skew);
    assert_int_equal(skew.spreads.count, 0);
}

static void other_modes_have_no_grid(void **state)
{
    struct trace_info info = {.has_clock = true};

    (void)state;
    info.sampling.mode = HR_MODE_TIMER;
    info.sampling.interval_ticks = INTERVAL;
    assert_int_equal(skew_set_grid(&skew, &info), 0);
    add(1, START, 0);
    add(2, START + 5, 0);
    skew_finish(&skew);
    assert_int_equal(skew.spreads.count, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_skew, close_skew)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_point_is_from_its_time_to_the_next), TEST(chunks_come_out_of_step),
        TEST(a_far_point_closes_an_old_one),        TEST(two_of_one_cpu_are_no_spread),
        TEST(late_and_polled_samples_are_left_out), TEST(other_modes_have_no_grid),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
