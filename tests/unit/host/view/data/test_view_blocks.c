/* Blocks: any span is a sum of entries; bounds hold for hostile traces. */
#include "host/view/data/view_blocks.h"
#include "host/view/data/view_tree.h"
#include "tests/unit/host/view/data/columns_reader.h"
#include "tests/unit/test.h"

static int setup(void **state)
{
    static struct view_blocks blocks;

    *state = &blocks;
    return view_blocks_init(&blocks, 1, VIEW_BLOCKS_BITS);
}

static int teardown(void **state)
{
    view_blocks_free(*state);
    return 0;
}

static void add(struct view_blocks *blocks, uint64_t time, uint32_t group, uint32_t node,
                uint64_t increment)
{
    const struct trace_slot previous = {.counters = {7}}, slot = {.counters = {7 + increment}};

    assert_int_equal(view_blocks_add(blocks, time, group, node, 1, &slot, &previous), 0);
}

static void pack(const struct view_blocks *blocks, struct columns_reader *reader)
{
    struct view_columns columns;

    view_columns_init(&columns);
    assert_int_equal(view_blocks_pack(blocks, &columns), 0);
    columns_reader_open(reader, &columns);
}

static void test_entries(void **state)
{
    struct view_blocks *blocks = *state;
    struct columns_reader reader;
    uint64_t *values;
    size_t count;

    add(blocks, 10, 1, 5, 100);
    add(blocks, 20, 1, 5, 200);
    add(blocks, 30, 1, 6, 1);
    add(blocks, 30, 2, 6, 2);
    add(blocks, 5000, 1, 5, 3);
    pack(blocks, &reader);
    values = columns_reader_get(&reader, "samples", &count);
    assert_int_equal(count, 4);
    assert_int_equal(values[0], 2);
    free(values);
    values = columns_reader_get(&reader, "sum.0", &count);
    assert_int_equal(values[0], 300);
    assert_int_equal(values[3], 3);
    free(values);
    values = columns_reader_get(&reader, "block", &count);
    assert_int_equal(values[0], 0);
    assert_int_equal(values[3], 5000 >> blocks->shift);
    free(values);
    columns_reader_close(&reader);
}

static void test_blocks_double(void **state)
{
    struct view_blocks *blocks = *state;
    struct columns_reader reader;

    for (uint64_t i = 0; i < 300000; i++)
        add(blocks, i * 10000, i % 5, i % 11, 2);
    assert_true(3000000000u >> blocks->shift < VIEW_BLOCKS_MAX);
    pack(blocks, &reader);
    assert_int_equal(columns_reader_sum(&reader, "samples"), 300000);
    assert_int_equal(columns_reader_sum(&reader, "sum.0"), 600000);
    columns_reader_close(&reader);
}

/* More nodes than there is room for: blocks become one, and then the rest counts at the root. */
static void test_hostile_nodes_and_times(void **state)
{
    struct view_blocks *blocks = *state;
    struct columns_reader reader;
    uint64_t samples;

    for (uint64_t i = 0; i < 600000; i++)
        add(blocks, i % 3 == 0 ? VIEW_TICKS_MASK - i : i * 1000, i % VIEW_GROUPS_MAX,
            (uint32_t)(i * 7919) % VIEW_TREE_NODES_MAX, 1);
    assert_true(blocks->used <= 1u << VIEW_BLOCKS_BITS);
    pack(blocks, &reader);
    samples = columns_reader_sum(&reader, "samples");
    assert_int_equal(samples, 600000);
    columns_reader_close(&reader);
}

static void assert_same_pack(const struct view_blocks *a, const struct view_blocks *b)
{
    struct view_columns columns[2];

    view_columns_init(&columns[0]);
    view_columns_init(&columns[1]);
    assert_int_equal(view_blocks_pack(a, &columns[0]), 0);
    assert_int_equal(view_blocks_pack(b, &columns[1]), 0);
    assert_true(columns_equal(&columns[0], &columns[1]));
}

/* Parts of which each begins with a width that the whole has had. */
static void add_both(struct view_blocks *blocks, struct view_blocks *whole,
                     struct view_blocks *part, uint64_t samples, bool hostile)
{
    unsigned shift = whole->shift;

    for (uint64_t i = 0; i < samples; i++) {
        uint64_t time = hostile && i % 3 == 0 ? VIEW_TICKS_MASK - i : i * 1000;
        uint32_t group = (uint32_t)(i % (hostile ? VIEW_GROUPS_MAX : 5));
        uint32_t node = (uint32_t)(i * 7919) % (hostile ? VIEW_TREE_NODES_MAX : 1000);

        if (i % 30000 == 0) {
            assert_int_equal(view_blocks_merge(whole, part), 0);
            view_blocks_begin(part, shift);
            shift = whole->shift;
        }
        add(part, time, group, node, i);
        add(blocks, time, group, node, i);
    }
    assert_int_equal(view_blocks_merge(whole, part), 0);
    assert_same_pack(blocks, whole);
}

static void test_parts(void **state)
{
    struct view_blocks whole, part;

    for (int hostile = 0; hostile < 2; hostile++) {
        struct view_blocks *blocks = *state;

        view_blocks_free(blocks);
        assert_int_equal(view_blocks_init(blocks, 1, VIEW_BLOCKS_BITS), 0);
        assert_int_equal(view_blocks_init(&whole, 1, VIEW_BLOCKS_BITS), 0);
        assert_int_equal(view_blocks_init(&part, 1, VIEW_BLOCKS_PART_BITS), 0);
        add_both(blocks, &whole, &part, 700000, hostile != 0);
        view_blocks_free(&whole);
        view_blocks_free(&part);
    }
}

static void test_groups_are_bounded(void **state)
{
    struct view_blocks *blocks = *state;

    for (uint32_t i = 0; i < 5000; i++)
        assert_true(view_blocks_group(blocks, i % 100, i) < VIEW_GROUPS_MAX);
    assert_int_equal(view_blocks_group(blocks, 3, 3), 3);
    assert_int_equal(view_blocks_group(blocks, 0, 4900), VIEW_GROUPS_MAX - 1);
    assert_int_equal(blocks->groups[VIEW_GROUPS_MAX - 1].tid, UINT32_MAX);
}

/* What samples accessed tells groups apart, as long as half of them are left for others. */
static void test_groups_of_objects(void **state)
{
    struct view_blocks *blocks = *state;
    uint32_t group = view_blocks_group(blocks, 1, 1000), first, second;

    first = view_blocks_object(blocks, group, 0);
    second = view_blocks_object(blocks, group, 5);
    assert_true(first != group && second != first);
    assert_int_equal(view_blocks_object(blocks, group, 0), first);
    assert_int_equal(view_blocks_group(blocks, 1, 1000), group);
    assert_int_equal(blocks->groups[second].cpu, 1);
    assert_int_equal(blocks->groups[second].tid, 1000);
    assert_int_equal(blocks->groups[second].object, 6);
    for (uint32_t i = 0; i < 2 * VIEW_GROUPS_MAX; i++)
        view_blocks_object(blocks, view_blocks_group(blocks, 0, i), i);
    assert_in_range(blocks->refused, VIEW_GROUPS_MAX, 2 * VIEW_GROUPS_MAX);
    assert_int_equal(view_blocks_object(blocks, group, 5), second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_entries, setup, teardown),
        cmocka_unit_test_setup_teardown(test_blocks_double, setup, teardown),
        cmocka_unit_test_setup_teardown(test_hostile_nodes_and_times, setup, teardown),
        cmocka_unit_test_setup_teardown(test_parts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_groups_are_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(test_groups_of_objects, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
