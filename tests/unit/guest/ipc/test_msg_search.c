/* Which message a receiver takes. */
#include "guest/ipc/msg_search.c"

#include "tests/unit/test.h"

static struct msg_message messages[5];
static struct msg_message *first;

static void chain(void)
{
    const int64_t types[] = {5, 3, 9, 3, 4};

    for (int i = 0; i < 5; i++) {
        messages[i].type = types[i];
        messages[i].next = i < 4 ? &messages[i + 1] : NULL;
    }
    first = &messages[0];
}

/* Returns the position of the message that is found; -1: none. */
static int find(enum msg_search search, int64_t type)
{
    struct msg_message **found = msg_search(&first, &(struct msg_want){search, type});

    return found != NULL ? (int)(*found - messages) : -1;
}

static void test_search(void **state)
{
    (void)state;
    chain();
    assert_int_equal(find(MSG_ANY, 0), 0);
    assert_int_equal(find(MSG_EQUAL, 3), 1);
    assert_int_equal(find(MSG_EQUAL, 7), -1);
    assert_int_equal(find(MSG_OTHER, 5), 1);
    assert_int_equal(find(MSG_LOWEST, 9), 1); /* the first of the lowest type */
    assert_int_equal(find(MSG_LOWEST, 2), -1);
    assert_int_equal(find(MSG_NUMBER, 4), 4);
    assert_int_equal(find(MSG_NUMBER, 5), -1);
    assert_int_equal(find(MSG_NUMBER, -1), -1);
}

static void test_link(void **state)
{
    struct msg_message **found;

    (void)state;
    chain();
    found = msg_search(&first, &(struct msg_want){MSG_EQUAL, 9});
    assert_ptr_equal(found, &messages[1].next); /* the link to it, so it can be taken out */
    *found = (*found)->next;
    assert_int_equal(find(MSG_EQUAL, 9), -1);
    first = NULL;
    assert_int_equal(find(MSG_ANY, 0), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_search),
        cmocka_unit_test(test_link),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
