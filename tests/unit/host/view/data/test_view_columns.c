/* Columns of numbers come back as they were put, whatever they are. */
#include "tests/unit/host/view/data/columns_reader.h"
#include "tests/unit/test.h"

static void test_round_trip(void **state)
{
    static const uint64_t values[] = {0, 1, 5, 4, 127, 128, UINT64_MAX, 0, 1ull << 63, 3, 3, 3};
    struct view_columns columns;
    struct columns_reader reader;
    size_t count;
    uint64_t *got;

    (void)state;
    view_columns_init(&columns);
    view_columns_begin(&columns);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        view_columns_put(&columns, values[i]);
    view_columns_end(&columns, "some");
    view_columns_begin(&columns);
    view_columns_end(&columns, "none");
    view_columns_begin(&columns);
    view_columns_put(&columns, 42);
    view_columns_end(&columns, "more");
    view_columns_set(&columns, "fact", json_string("</script>"));
    columns_reader_open(&reader, &columns);
    got = columns_reader_get(&reader, "some", &count);
    assert_int_equal(count, sizeof values / sizeof values[0]);
    assert_memory_equal(got, values, sizeof values);
    free(got);
    got = columns_reader_get(&reader, "none", &count);
    assert_int_equal(count, 0);
    free(got);
    assert_int_equal(columns_reader_sum(&reader, "more"), 42);
    assert_string_equal(json_string_value(json_object_get(reader.json, "fact")), "</script>");
    columns_reader_close(&reader);
}

static void test_steady_values_take_a_byte_each(void **state)
{
    struct view_columns columns;

    (void)state;
    view_columns_init(&columns);
    view_columns_begin(&columns);
    for (uint64_t i = 0; i < 100000; i++)
        view_columns_put(&columns, 1000000000000 + 50 * i);
    view_columns_end(&columns, "time");
    assert_true(columns.all.used < 100010);
    view_columns_free(&columns);
}

static void test_no_memory_is_told(void **state)
{
    struct view_columns columns;
    uint8_t *bytes;
    size_t count;

    (void)state;
    view_columns_init(&columns);
    view_columns_set(&columns, "fact", NULL); /* as when an object could not be made */
    assert_int_not_equal(view_columns_finish(&columns, &bytes, &count), 0);
    view_columns_free(&columns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_steady_values_take_a_byte_each),
        cmocka_unit_test(test_no_memory_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
