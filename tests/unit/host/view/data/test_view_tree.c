/* The tree of functions: stacks become paths, roots say how they ended, a hostile tree is bounded.
 */
#include "host/view/data/view_tree.h"
#include "tests/unit/host/view/data/columns_reader.h"
#include "tests/unit/test.h"

struct fixture {
    struct view_tree tree;
    struct stacks stacks;
    struct trace_info info;
};

static int setup(void **state)
{
    static struct fixture f;

    trace_info_init(&f.info);
    *state = &f;
    if (view_tree_init(&f.tree) != 0 || stacks_init(&f.stacks) != 0)
        return -1;
    return symbols_open(&f.tree.symbols, &f.info, NULL);
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    symbols_close(f->tree.symbols);
    view_tree_free(&f->tree);
    stacks_free(&f->stacks);
    trace_info_free(&f->info);
    return 0;
}

/* Without symbols, each 4 KiB are a function. */
static void test_paths(void **state)
{
    struct fixture *f = *state;
    uint32_t outer = stacks_child(&f->stacks, HR_STACK_WHOLE, 0x10010);
    uint32_t inner = stacks_child(&f->stacks, outer, 0x20010);
    uint32_t same = stacks_child(&f->stacks, outer, 0x20020); /* the same function */
    uint32_t node, other, parent;
    int error = 0;

    node = view_tree_sample(&f->tree, &f->stacks, inner, 0x30000, &error);
    other = view_tree_sample(&f->tree, &f->stacks, same, 0x30008, &error);
    assert_int_equal(error, 0);
    assert_int_equal(node, other);
    parent = f->tree.nodes[node].parent;
    assert_int_equal(f->tree.functions[f->tree.nodes[parent].function].start, 0x20000);
    parent = f->tree.nodes[parent].parent;
    assert_int_equal(f->tree.functions[f->tree.nodes[parent].function].start, 0x10000);
    assert_int_equal(f->tree.nodes[parent].parent, 0);
}

/* A return address is behind its call, which may be the last instruction of its function. */
static void test_callers_are_before_their_return_address(void **state)
{
    struct fixture *f = *state;
    uint32_t stack = stacks_child(&f->stacks, HR_STACK_WHOLE, 0x11000);
    int error = 0;
    uint32_t node = view_tree_sample(&f->tree, &f->stacks, stack, 0x30000, &error);

    assert_int_equal(f->tree.functions[f->tree.nodes[f->tree.nodes[node].parent].function].start,
                     0x10000);
}

static void test_roots(void **state)
{
    struct fixture *f = *state;
    uint32_t stack = stacks_child(&f->stacks, HR_STACK_CUT, 0x10010), node;
    int error = 0;

    node = view_tree_sample(&f->tree, &f->stacks, stack, 0x30000, &error);
    node = f->tree.nodes[f->tree.nodes[node].parent].parent;
    assert_int_equal(f->tree.nodes[node].function, VIEW_FUNCTION_CUT);
    node = view_tree_sample(&f->tree, &f->stacks, HR_STACK_BROKEN, 0x30000, &error);
    assert_int_equal(f->tree.nodes[f->tree.nodes[node].parent].function, VIEW_FUNCTION_BROKEN);
    node = view_tree_sample(&f->tree, &f->stacks, HR_STACK_NONE, 0x30000, &error);
    assert_int_equal(f->tree.nodes[node].parent, 0);
}

static void test_bounds(void **state)
{
    struct fixture *f = *state;
    struct view_columns columns;
    struct columns_reader reader;
    uint32_t stack = HR_STACK_WHOLE;
    int error = 0;

    for (uint64_t i = 0; i < 400000; i++) {
        stack = i % 600 == 0
                    ? HR_STACK_WHOLE
                    : stacks_child(&f->stacks, stack, (i * 0x9e3779b97f4a7c15u % 20011 + 1) << 12);
        assert_true(view_tree_sample(&f->tree, &f->stacks, stack, i % 40000 << 12, &error) <
                    VIEW_TREE_NODES_MAX);
    }
    assert_int_equal(error, 0);
    assert_true(f->tree.refused > 0);
    assert_int_equal(f->tree.function_count, VIEW_TREE_FUNCTIONS_MAX);
    view_columns_init(&columns);
    view_tree_pack(&f->tree, &columns);
    columns_reader_open(&reader, &columns);
    assert_int_equal(json_array_size(json_object_get(reader.json, "functions")),
                     VIEW_TREE_FUNCTIONS_MAX);
    columns_reader_close(&reader);
    view_tree_forget(&f->tree);
    assert_true(view_tree_sample(&f->tree, &f->stacks, stack, 0, &error) < VIEW_TREE_NODES_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_paths, setup, teardown),
        cmocka_unit_test_setup_teardown(test_callers_are_before_their_return_address, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_roots, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bounds, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
