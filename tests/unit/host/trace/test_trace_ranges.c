/* Tests of host/trace/trace_ranges.c: the later map holds, against a table of every address. */
#include "host/trace/trace_ranges.h"

#include <string.h>

#include "tests/unit/test.h"

#define ADDRESSES 256u
#define ROUNDS 2000

struct model { /* of each address: its map + 1, and the place in the file */
    uint32_t object[ADDRESSES];
    uint64_t offset[ADDRESSES];
};

static void compare(const struct trace_ranges *maps, const struct model *model)
{
    for (uint64_t address = 0; address < ADDRESSES; address++) {
        const struct trace_range *range = trace_ranges_find(maps, address);

        if (model->object[address] == 0) {
            assert_null(range);
            continue;
        }
        assert_non_null(range);
        assert_int_equal(range->object, model->object[address] - 1);
        assert_int_equal(address - range->start + range->file_offset, model->offset[address]);
    }
    for (size_t i = 1; i < maps->count; i++)
        assert_true(maps->ranges[i - 1].end <= maps->ranges[i].start);
}

static void later_map_holds(void **state)
{
    struct test_random random = {3};

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct trace_ranges maps = {0};
        struct model model = {0};

        for (uint32_t n = 0; n < 12; n++) {
            uint64_t start = test_random_below(&random, ADDRESSES);
            uint64_t end = start + test_random_below(&random, ADDRESSES - start + 1);
            struct trace_range map = {start, end, 1000 * n, n};

            assert_int_equal(trace_ranges_add(&maps, &map), 0);
            for (uint64_t address = start; address < end; address++) {
                model.object[address] = n + 1;
                model.offset[address] = 1000 * n + address - start;
            }
        }
        compare(&maps, &model);
        trace_ranges_free(&maps);
    }
}

static void odd_maps_are_taken(void **state)
{
    struct trace_range all = {0, UINT64_MAX, 0, 7}, backward = {9, 3, 0, 8};
    struct trace_ranges maps = {0};

    (void)state;
    assert_null(trace_ranges_find(&maps, 0));
    assert_int_equal(trace_ranges_add(&maps, &backward), 0);
    assert_null(trace_ranges_find(&maps, 5));
    assert_int_equal(trace_ranges_add(&maps, &all), 0);
    assert_int_equal(trace_ranges_find(&maps, 0)->object, 7);
    assert_int_equal(trace_ranges_find(&maps, UINT64_MAX - 1)->object, 7);
    assert_null(trace_ranges_find(&maps, UINT64_MAX));
    trace_ranges_free(&maps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(later_map_holds),
        cmocka_unit_test(odd_maps_are_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
