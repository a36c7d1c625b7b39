/* Sums by two numbers: what is added is there, what finds no room is in the rest. */
#include "host/memory/accesses/memory_table.h"

#include <stdlib.h>

#include "tests/unit/test.h"

static void add(struct memory_table *table, uint64_t first, uint64_t second, uint64_t reads)
{
    assert_int_equal(memory_table_reserve(table, 1), 0);
    memory_table_at(table, first, second)->reads += reads;
}

static uint64_t total(const struct memory_table *table, size_t *count)
{
    struct memory_entry *all = memory_table_sorted(table, count);
    uint64_t reads = 0;

    assert_non_null(all);
    for (size_t i = 0; i < *count; i++) {
        reads += all[i].sums.reads;
        if (i != 0)
            assert_true(all[i].first > all[i - 1].first ||
                        (all[i].first == all[i - 1].first && all[i].second > all[i - 1].second));
    }
    free(all);
    return reads;
}

static void sums_grow_and_merge(void **state)
{
    struct memory_table a, b;
    size_t count;

    (void)state;
    memory_table_init(&a, 16);
    memory_table_init(&b, 16);
    for (uint64_t i = 0; i < 20000; i++) {
        add(&a, i / 100, i % 100 * 4, 1);
        add(&b, i / 100 + 100, i % 100 * 4, 2);
    }
    assert_int_equal(total(&a, &count), 20000);
    assert_int_equal(count, 20000);
    assert_int_equal(memory_table_merge(&a, &b), 0);
    assert_int_equal(total(&a, &count), 60000);
    assert_int_equal(count, 30000);
    assert_int_equal(memory_table_at(&a, 150, 8)->reads, 3);
    memory_table_free(&a);
    memory_table_free(&b);
}

static void what_finds_no_room_is_the_rest(void **state)
{
    struct memory_table table;
    size_t count;

    (void)state;
    memory_table_init(&table, 11);
    for (uint64_t i = 1; i <= 4096; i++)
        add(&table, i, i, 1);
    assert_int_equal(memory_table_rest(&table)->reads, 4096 - 1536);
    assert_int_equal(total(&table, &count), 4096);
    assert_int_equal(count, 1536 + 1);
    memory_table_free(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_grow_and_merge),
        cmocka_unit_test(what_finds_no_room_is_the_rest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
