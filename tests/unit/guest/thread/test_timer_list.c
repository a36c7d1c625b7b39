/* guest/thread/timer_list.c: timers in the order of what is due, equal ones in the order of being
 * set. */
#include "tests/unit/test.h"

#include "guest/thread/timer_list.c"

static void assert_order(const struct timer *head, const struct timer *const *wanted, size_t count)
{
    const struct timer *before = NULL;

    for (size_t i = 0; i < count; i++, head = head->next) {
        assert_ptr_equal(head, wanted[i]);
        assert_ptr_equal(head->previous, before);
        before = head;
    }
    assert_null(head);
}

static void test_sorted(void **state)
{
    struct timer a = {.due = 20}, b = {.due = 10}, c = {.due = 20}, d = {.due = 30};
    struct timer *head = NULL;

    (void)state;
    timer_list_add(&head, &a);
    timer_list_add(&head, &d);
    timer_list_add(&head, &b);
    timer_list_add(&head, &c);
    assert_order(head, (const struct timer *[]){&b, &a, &c, &d}, 4);
}

static void test_removed(void **state)
{
    struct timer a = {.due = 1}, b = {.due = 2}, c = {.due = 3};
    struct timer *head = NULL;

    (void)state;
    timer_list_add(&head, &a);
    timer_list_add(&head, &b);
    timer_list_add(&head, &c);
    timer_list_remove(&head, &b);
    assert_order(head, (const struct timer *[]){&a, &c}, 2);
    timer_list_remove(&head, &a);
    assert_order(head, (const struct timer *[]){&c}, 1);
    timer_list_remove(&head, &c);
    assert_null(head);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sorted),
        cmocka_unit_test(test_removed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
