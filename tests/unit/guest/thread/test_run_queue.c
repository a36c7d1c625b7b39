/* guest/thread/run_queue.c: first come, first served, among those that may use the CPU. */
#include "tests/unit/test.h"

#include "guest/thread/run_queue.c"

static void test_first_that_may(void **state)
{
    struct thread a = {.schedule.allowed_cpus = 2}, b = {.schedule.allowed_cpus = 3},
                  c = {.schedule.allowed_cpus = 1};
    struct run_queue queue = {0};

    (void)state;
    run_queue_add(&queue, &a);
    run_queue_add(&queue, &b);
    run_queue_add(&queue, &c);
    assert_ptr_equal(run_queue_first(&queue, 0), &b);
    assert_ptr_equal(run_queue_first(&queue, 1), &a);
    assert_null(run_queue_first(&queue, 2));
}

static void test_removed_anywhere(void **state)
{
    struct thread t[3] = {
        {.schedule.allowed_cpus = 1}, {.schedule.allowed_cpus = 1}, {.schedule.allowed_cpus = 1}};
    struct run_queue queue = {0};

    (void)state;
    for (int i = 0; i < 3; i++)
        run_queue_add(&queue, &t[i]);
    run_queue_remove(&queue, &t[1]);
    assert_ptr_equal(t[0].schedule.next, &t[2]);
    run_queue_remove(&queue, &t[2]);
    assert_ptr_equal(queue.last, &t[0]);
    run_queue_add(&queue, &t[1]);
    run_queue_remove(&queue, &t[0]);
    assert_ptr_equal(run_queue_first(&queue, 0), &t[1]);
    run_queue_remove(&queue, &t[1]);
    assert_null(queue.first);
    assert_null(queue.last);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_that_may),
        cmocka_unit_test(test_removed_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
