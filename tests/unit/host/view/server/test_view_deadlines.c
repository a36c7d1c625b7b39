/* Connections of the page's server that do not get on, by a clock that the test turns. */
#include "host/view/server/view_deadlines.h"
#include "tests/unit/test.h"

#include <string.h>

#define START_MS 1000000u

static struct view_deadlines d;

static int setup(void **state)
{
    (void)state;
    memset(&d, 0, sizeof d);
    return 0;
}

static void test_a_request_must_be_whole_in_time(void **state)
{
    (void)state;
    view_deadlines_begin(&d, 7, START_MS);
    view_deadlines_begin(&d, 8, START_MS + 1000);
    /* bytes that drip in are not told to the table, so they win nothing */
    assert_int_equal(view_deadlines_late(&d, START_MS + VIEW_REQUEST_MS - 1), -1);
    assert_int_equal(view_deadlines_late(&d, START_MS + VIEW_REQUEST_MS), 7);
    assert_int_equal(view_deadlines_late(&d, START_MS + VIEW_REQUEST_MS), -1); /* told once */
    assert_int_equal(view_deadlines_late(&d, START_MS + VIEW_REQUEST_MS + 1000), 8);
}

static void test_a_slow_reader_loses_its_answer(void **state)
{
    const uint64_t bytes = 3200000, enough = VIEW_ANSWER_MS + bytes / VIEW_ANSWER_BYTES_PER_MS;

    (void)state;
    view_deadlines_begin(&d, 7, START_MS);
    view_deadlines_answer(&d, 7, bytes, START_MS);
    assert_int_equal(view_deadlines_late(&d, START_MS + enough - 1), -1);
    assert_int_equal(view_deadlines_late(&d, START_MS + enough), 7);
}

static void test_an_idle_connection_goes_later(void **state)
{
    (void)state;
    view_deadlines_begin(&d, 7, START_MS);
    view_deadlines_answer(&d, 7, 100, START_MS + 10);
    view_deadlines_answered(&d, 7, START_MS + 20);
    assert_int_equal(view_deadlines_late(&d, START_MS + 19 + VIEW_IDLE_MS), -1);
    assert_int_equal(view_deadlines_late(&d, START_MS + 20 + VIEW_IDLE_MS), 7);
}

static void test_work_counts_for_nobody(void **state)
{
    (void)state;
    view_deadlines_begin(&d, 7, START_MS);
    view_deadlines_work(&d, START_MS + 1000);
    view_deadlines_work(&d, START_MS + 2000); /* of the other address */
    assert_int_equal(view_deadlines_late(&d, START_MS + 60000), -1);
    view_deadlines_rest(&d, START_MS + 30000);
    assert_int_equal(view_deadlines_late(&d, START_MS + 60000), -1);
    view_deadlines_rest(&d, START_MS + 61000);
    assert_int_equal(view_deadlines_late(&d, START_MS + 61000), -1);
    assert_int_equal(view_deadlines_late(&d, START_MS + 60000 + VIEW_REQUEST_MS), 7);
    view_deadlines_work(&d, START_MS + 70000); /* a late one stays told */
    view_deadlines_rest(&d, START_MS + 80000);
    assert_int_equal(view_deadlines_late(&d, START_MS + 900000), -1);
}

static void test_descriptors_come_again(void **state)
{
    (void)state;
    view_deadlines_begin(&d, 7, START_MS);
    view_deadlines_begin(&d, 8, START_MS);
    view_deadlines_end(&d, 7);
    view_deadlines_end(&d, 7);
    view_deadlines_begin(&d, 7, START_MS + 2000);
    assert_int_equal(view_deadlines_late(&d, START_MS + VIEW_REQUEST_MS), 8);
    assert_int_equal(view_deadlines_late(&d, START_MS + VIEW_REQUEST_MS), -1);
    view_deadlines_end(&d, 8);
    assert_int_equal(d.count, 1);
}

static void test_no_more_than_there_is_room_for(void **state)
{
    (void)state;
    for (int fd = 0; fd < (int)VIEW_DEADLINES_MAX + 3; fd++)
        view_deadlines_begin(&d, fd, START_MS);
    assert_int_equal(d.count, VIEW_DEADLINES_MAX);
    view_deadlines_answer(&d, VIEW_DEADLINES_MAX + 1, 1, START_MS); /* unknown: nothing happens */
    view_deadlines_end(&d, VIEW_DEADLINES_MAX + 1);
    assert_int_equal(d.count, VIEW_DEADLINES_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_request_must_be_whole_in_time, setup),
        cmocka_unit_test_setup(test_a_slow_reader_loses_its_answer, setup),
        cmocka_unit_test_setup(test_an_idle_connection_goes_later, setup),
        cmocka_unit_test_setup(test_work_counts_for_nobody, setup),
        cmocka_unit_test_setup(test_descriptors_come_again, setup),
        cmocka_unit_test_setup(test_no_more_than_there_is_room_for, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
