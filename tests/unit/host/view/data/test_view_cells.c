/* Counts by kind and piece of time: pieces that become longer, kinds beyond the bound. */
#include "host/view/data/view_cells.h"
#include "tests/unit/host/view/data/columns_reader.h"
#include "tests/unit/test.h"

static uint64_t *packed(struct view_cells *cells, struct columns_reader *reader, size_t *count)
{
    struct view_columns columns;

    view_columns_init(&columns);
    view_cells_pack(cells, "it", &columns);
    columns_reader_open(reader, &columns);
    return columns_reader_get(reader, "it", count);
}

static void test_pieces_become_longer(void **state)
{
    struct view_cells cells = {0};
    struct columns_reader reader = {0};
    uint64_t *counts;
    size_t count;

    (void)state;
    assert_int_equal(view_cells_add(&cells, 3, 7, 1), 0);
    assert_int_equal(view_cells_add(&cells, 1023, 9, 5), 0);
    assert_int_equal(view_cells_add(&cells, 4 * VIEW_CELLS - 1, 7, 2), 0);
    counts = packed(&cells, &reader, &count);
    assert_int_equal(cells.shift, 2);
    assert_int_equal(count, 2 * VIEW_CELLS);
    assert_int_equal(counts[0], 1);
    assert_int_equal(counts[VIEW_CELLS - 1], 2);
    assert_int_equal(counts[VIEW_CELLS + 255], 5);
    free(counts);
    columns_reader_close(&reader);
    view_cells_free(&cells);
}

static void test_kinds_beyond_the_bound_are_one(void **state)
{
    struct view_cells cells = {0};
    struct columns_reader reader = {0};
    uint64_t *counts;
    size_t count;

    (void)state;
    for (uint64_t kind = 0; kind < 2 * VIEW_CELLS_KINDS; kind++)
        assert_int_equal(view_cells_add(&cells, (1ull << 60) - 1, kind, 1), 0);
    counts = packed(&cells, &reader, &count);
    assert_int_equal(count, VIEW_CELLS_KINDS * VIEW_CELLS);
    assert_int_equal(counts[VIEW_CELLS - 1], 1);
    assert_int_equal(counts[count - 1], VIEW_CELLS_KINDS + 1);
    assert_true(json_is_null(
        json_array_get(json_object_get(reader.json, "it.kinds"), VIEW_CELLS_KINDS - 1)));
    free(counts);
    columns_reader_close(&reader);
    view_cells_free(&cells);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_become_longer),
        cmocka_unit_test(test_kinds_beyond_the_bound_are_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
