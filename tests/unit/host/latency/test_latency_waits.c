/* What a wait is for: by the system call, by what the kernel knows of a futex, by the function. */
#include "host/latency/latency_waits.h"

#include <asm/unistd_64.h>
#include <linux/futex.h>

#include "tests/unit/test.h"

static enum latency_spent futex(uint32_t operation, uint32_t joins, const char *function)
{
    struct trace_point_function functions[2] = {{.name = NULL}, {.name = (char *)function}};
    const struct trace_points points = {.meta = {.function_count = 2}, .functions = functions};
    const struct hr_rec_wait wait = {
        .number = __NR_futex, .operation = operation, .joins = joins, .address = 0x5000};

    return latency_waits_told(&wait, &points, function != NULL ? 1 : TRACE_POINTS_NONE);
}

static void operations(void **state)
{
    (void)state;
    assert_int_equal(futex(FUTEX_WAIT, 0, NULL), LATENCY_LOCKS);
    assert_int_equal(futex(FUTEX_LOCK_PI, 0, NULL), LATENCY_LOCKS);
    assert_int_equal(futex(FUTEX_LOCK_PI2, 0, NULL), LATENCY_LOCKS);
    assert_int_equal(futex(FUTEX_WAIT_BITSET, 0, NULL), LATENCY_CONDITIONS);
    assert_int_equal(futex(0xffffffff, 0, NULL), LATENCY_CONDITIONS);
    assert_int_equal(futex(FUTEX_WAIT, 7, NULL), LATENCY_JOINS);
}

static void functions_know_better(void **state)
{
    (void)state;
    assert_int_equal(futex(FUTEX_WAIT_BITSET, 0, "pthread_rwlock_rdlock"), LATENCY_LOCKS);
    assert_int_equal(futex(FUTEX_WAIT_BITSET, 0, "__pthread_mutex_timedlock"), LATENCY_LOCKS);
    assert_int_equal(futex(FUTEX_WAIT, 0, "sem_wait@@GLIBC_2.34"), LATENCY_CONDITIONS);
    assert_int_equal(futex(FUTEX_WAIT, 0, "pthread_barrier_wait"), LATENCY_CONDITIONS);
    assert_int_equal(futex(FUTEX_WAIT, 0, "thrd_join"), LATENCY_JOINS);
    /* It waits for its mutex, too. */
    assert_int_equal(futex(FUTEX_WAIT, 0, "pthread_cond_wait"), LATENCY_LOCKS);
    assert_int_equal(futex(FUTEX_WAIT_BITSET, 0, "pthread_cond_wait"), LATENCY_CONDITIONS);
    assert_int_equal(futex(FUTEX_WAIT, 0, "my_sem_wait"), LATENCY_LOCKS);
    assert_int_equal(futex(FUTEX_WAIT, 0, "___"), LATENCY_LOCKS);
}

static void other_calls(void **state)
{
    const struct trace_points none = {0};

    (void)state;
    assert_int_equal(latency_waits_told(&(struct hr_rec_wait){.number = __NR_read}, &none, 3),
                     LATENCY_IO);
    assert_int_equal(latency_waits_told(&(struct hr_rec_wait){.number = __NR_futex}, &none, 3),
                     LATENCY_LOCKS);
    assert_int_equal(latency_waits_told(&(struct hr_rec_wait){.number = HR_WAIT_NO_CALL}, &none, 3),
                     LATENCY_OTHER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations),
        cmocka_unit_test(functions_know_better),
        cmocka_unit_test(other_calls),
    };

    return cmocka_run_group_tests_name("latency_waits", tests, NULL, NULL);
}
