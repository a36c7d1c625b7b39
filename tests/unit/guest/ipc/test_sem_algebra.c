/* Operations on semaphores, all or none, against a plain model. */
#include "guest/ipc/sem_algebra.c"

#include <string.h>

#include "tests/unit/test.h"

#define COUNT 4
#define OPERATIONS 5

static struct sem_value values[COUNT];
static int16_t undo[COUNT];

static void set_values(int a, int b, int c, int d)
{
    const int wanted[COUNT] = {a, b, c, d};

    for (int i = 0; i < COUNT; i++)
        values[i] = (struct sem_value){wanted[i], 1};
    memset(undo, 0, sizeof undo);
}

static int perform(const struct sembuf *operations, uint32_t count, uint32_t *blocking)
{
    struct sem_wish wish = {
        .operations = operations, .count = count, .process = 7, .undo = undo, .blocking = 99};
    int result = sem_perform(values, &wish);

    *blocking = wish.blocking;
    return result;
}

static void test_all_or_none(void **state)
{
    const struct sembuf o[] = {{0, 3, SEM_UNDO}, {1, -1, SEM_UNDO}, {2, 0, 0}};
    uint32_t blocking;

    (void)state;
    set_values(1, 0, 0, 0);
    assert_int_equal(perform(o, 3, &blocking), 1);
    assert_int_equal(blocking, 1);
    assert_int_equal(values[0].value, 1);
    assert_int_equal(values[0].process, 1);
    assert_int_equal(undo[0], 0);
    values[1].value = 1;
    values[2].value = 1;
    assert_int_equal(perform(o, 3, &blocking), 1);
    assert_int_equal(blocking, 2);
    assert_int_equal(values[1].value, 1);
    values[2].value = 0;
    assert_int_equal(perform(o, 3, &blocking), 0);
    assert_int_equal(values[0].value, 4);
    assert_int_equal(values[1].value, 0);
    assert_int_equal(values[2].process, 7); /* also of one that only waited for zero */
    assert_int_equal(values[3].process, 1);
    assert_int_equal(undo[0], -3);
    assert_int_equal(undo[1], 1);
}

static void test_limits(void **state)
{
    const struct sembuf high[] = {{0, 1, 0}}, undone[] = {{1, -1, SEM_UNDO}, {2, 1, 0}};
    const struct sembuf no_wait[] = {{3, -1, IPC_NOWAIT}};
    uint32_t blocking;

    (void)state;
    set_values(SEMVMX, 1, 0, 0);
    assert_int_equal(perform(high, 1, &blocking), -ERANGE);
    undo[1] = SEMAEM;
    assert_int_equal(perform(undone, 2, &blocking), -ERANGE);
    assert_int_equal(values[1].value, 1);
    assert_int_equal(perform(no_wait, 1, &blocking), -EAGAIN);
    sem_apply_undo(&values[0], 5, 3);
    assert_int_equal(values[0].value, SEMVMX);
    assert_int_equal(values[0].process, 3);
    sem_apply_undo(&values[1], -5, 3);
    assert_int_equal(values[1].value, 0);
    sem_apply_undo(&values[2], 0, 3);
    assert_int_equal(values[2].process, 1);
}

/* Does the operations on a copy, one after another. */
static int model(const struct sembuf *operations, uint32_t count, int *copy)
{
    for (uint32_t i = 0; i < count; i++) {
        int *value = &copy[operations[i].sem_num], add = operations[i].sem_op;

        if (add ? *value + add < 0 : *value)
            return operations[i].sem_flg & IPC_NOWAIT ? -EAGAIN : 1;
        *value += add;
    }
    return 0;
}

static void test_model(void **state)
{
    struct test_random random = {.state = 11};
    int undone[COUNT] = {0};

    (void)state;
    set_values(2, 0, 1, 3);
    for (int round = 0; round < 20000; round++) {
        struct sembuf o[OPERATIONS];
        uint32_t count = 1 + (uint32_t)test_random_below(&random, OPERATIONS), blocking;
        int copy[COUNT], wanted;

        for (int i = 0; i < COUNT; i++)
            copy[i] = values[i].value;
        for (uint32_t i = 0; i < count; i++)
            o[i] = (struct sembuf){(unsigned short)test_random_below(&random, COUNT),
                                   (short)((int)test_random_below(&random, 7) - 3),
                                   (short)(test_random_below(&random, 2) * SEM_UNDO |
                                           test_random_below(&random, 2) * IPC_NOWAIT)};
        wanted = model(o, count, copy);
        assert_int_equal(perform(o, count, &blocking), wanted);
        for (uint32_t i = 0; i < count && !wanted; i++)
            undone[o[i].sem_num] -= o[i].sem_flg & SEM_UNDO ? o[i].sem_op : 0;
        for (int i = 0; i < COUNT; i++) {
            if (!wanted)
                assert_int_equal(values[i].value, copy[i]);
            assert_int_equal(undo[i], undone[i]);
            if (values[i].value > 1000)
                values[i].value = 0;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_or_none),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
