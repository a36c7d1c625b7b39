/* Pending signals: coalescing, order, the bound on what is kept. */
#include <errno.h>

#include "guest/thread/signal_queue.c"
#include "tests/unit/test.h"

static int add(struct signal_queue *queue, uint32_t signal, int code, bool lossy)
{
    const struct signal_note note = {.signal = signal, .code = code};

    return signal_queue_add(queue, &note, lossy);
}

static int take(struct signal_queue *queue, uint32_t signal)
{
    struct signal_note note;

    signal_queue_take(queue, signal, &note);
    assert_int_equal(note.signal, signal);
    return note.code;
}

static void test_standard_once(void **state)
{
    struct signal_queue queue = {0};

    (void)state;
    assert_int_equal(add(&queue, 10, 1, false), 0);
    assert_int_equal(add(&queue, 10, 2, false), 0);
    assert_int_equal(queue.pending, SIGNAL_BIT(10));
    assert_int_equal(take(&queue, 10), 1); /* the first one's note */
    assert_int_equal(queue.pending, 0);
    assert_null(queue.first);
    assert_null(queue.last);
}

static void test_real_time_in_order(void **state)
{
    struct signal_queue queue = {0};

    (void)state;
    for (int i = 0; i < 6; i++)
        assert_int_equal(add(&queue, i % 2 ? 64 : 32, i, false), 0);
    assert_int_equal(take(&queue, 64), 1);
    assert_int_equal(take(&queue, 32), 0);
    assert_int_equal(take(&queue, 32), 2);
    assert_int_equal(take(&queue, 64), 3);
    assert_int_equal(take(&queue, 64), 5);
    assert_int_equal(queue.pending, SIGNAL_BIT(32));
    assert_int_equal(take(&queue, 32), 4);
    assert_int_equal(queue.pending, 0);
    assert_int_equal(add(&queue, 5, 9, false), 0);
    assert_int_equal(take(&queue, 5), 9);
}

static void test_timer_beside_standard(void **state)
{
    struct signal_queue queue = {0};
    struct signal_note note = {.signal = 14, .code = -2, .timer = 7};

    (void)state;
    assert_int_equal(add(&queue, 14, 1, false), 0);
    assert_int_equal(signal_queue_add(&queue, &note, false), 0);
    assert_int_equal(take(&queue, 14), 1);
    assert_int_equal(queue.pending, SIGNAL_BIT(14));
    signal_queue_take(&queue, 14, &note);
    assert_int_equal(note.timer, 7);
    assert_int_equal(queue.pending, 0);
}

static void test_bound(void **state)
{
    struct signal_queue a = {0}, b = {0};
    struct signal_note timer = {.signal = 14, .timer = 1};
    uint32_t count = 0;

    (void)state;
    while (add(&a, 40, (int)count, false) == 0)
        count++;
    assert_int_equal(count, SIGNAL_NOTES_MAX);
    assert_int_equal(add(&b, 40, 1, false), -EAGAIN);
    assert_int_equal(b.pending, 0);
    assert_int_equal(signal_queue_add(&b, &timer, true), -EAGAIN);
    assert_int_equal(add(&b, 40, 1, true), 0); /* pending, but nothing known of it */
    assert_int_equal(add(&b, 9, 5, false), 0);
    assert_int_equal(b.pending, SIGNAL_BIT(40) | SIGNAL_BIT(9));
    assert_int_equal(take(&b, 9), 0);
    assert_int_equal(take(&b, 40), 0);
    assert_int_equal(b.pending, 0);
    assert_int_equal(take(&a, 40), 0);
    assert_int_equal(add(&b, 41, 6, false), 0);
    assert_int_equal(take(&b, 41), 6);
    signal_queue_forget(&a, UINT64_MAX, NULL, NULL);
    assert_null(a.first);
}

static uint64_t forgotten; /* the sum of their codes */

static void add_forgotten(void *context, struct signal_note *note)
{
    assert_null(context);
    forgotten += (uint64_t)note->code;
}

static void test_forget(void **state)
{
    struct signal_queue queue = {0};

    (void)state;
    for (int i = 0; i < 9; i++)
        assert_int_equal(add(&queue, 32 + (uint32_t)i % 3, i, false), 0);
    signal_queue_forget(&queue, SIGNAL_BIT(34) | SIGNAL_BIT(32), add_forgotten, NULL);
    assert_int_equal(forgotten, 0 + 2 + 3 + 5 + 6 + 8);
    assert_int_equal(queue.pending, SIGNAL_BIT(33));
    assert_int_equal(take(&queue, 33), 1);
    assert_int_equal(add(&queue, 32, 50, false), 0);
    assert_int_equal(take(&queue, 33), 4);
    assert_int_equal(take(&queue, 33), 7);
    assert_int_equal(take(&queue, 32), 50);
    assert_null(queue.first);
    assert_null(queue.last);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_standard_once),
        cmocka_unit_test(test_real_time_in_order),
        cmocka_unit_test(test_timer_beside_standard),
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_forget),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
