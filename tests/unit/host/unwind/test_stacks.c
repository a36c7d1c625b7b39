/* Tests of host/unwind/stacks.c: nodes are found again however large the table is, and no others.
 */
#include "host/unwind/stacks.h"

#include <stdlib.h>

#include "tests/unit/test.h"

#define COUNT 300000u

static void nodes_are_found_again(void **state)
{
    struct stacks stacks;

    (void)state;
    assert_int_equal(stacks_init(&stacks), 0);
    for (uint32_t round = 0; round < 2; round++) {
        uint32_t next = HR_STACK_ROOTS;

        for (uint32_t i = 0; i < COUNT; i++) {
            uint32_t node = stacks_child(
                &stacks, next > HR_STACK_ROOTS && i % 3 != 0 ? next - 1 : i % HR_STACK_ROOTS, i);

            assert_int_equal(node, next++);
        }
        assert_int_equal(stacks.count, HR_STACK_ROOTS + COUNT);
    }
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(stacks.nodes[HR_STACK_ROOTS + i].address, i);
    assert_int_equal(stacks.refused, 0);
    stacks_free(&stacks);
}

static void what_does_not_fit_is_cut(void **state)
{
    struct stacks stacks;

    (void)state;
    assert_int_equal(stacks_init(&stacks), 0);
    stacks.limit = stacks.capacity;
    for (uint32_t i = HR_STACK_ROOTS; i < stacks.capacity; i++)
        assert_int_equal(stacks_child(&stacks, HR_STACK_WHOLE, i), i);
    assert_int_equal(stacks_child(&stacks, HR_STACK_WHOLE, 1), HR_STACK_CUT);
    assert_int_equal(stacks_child(&stacks, HR_STACK_WHOLE, HR_STACK_ROOTS), HR_STACK_ROOTS);
    assert_int_equal(stacks.refused, 1);
    stacks_free(&stacks);
}

/* A small tree's nodes are those of the large one, in which they come in the same order. */
static void trees_are_adopted(void **state)
{
    struct stacks stacks, small;
    struct stacks_nodes nodes = {0};
    uint32_t outer, inner;

    (void)state;
    assert_int_equal(stacks_init(&stacks), 0);
    assert_int_equal(stacks_init(&small), 0);
    outer = stacks_child(&stacks, HR_STACK_WHOLE, 10);
    stacks_child(&small, HR_STACK_CUT, 10);
    stacks_child(&small, stacks_child(&small, HR_STACK_WHOLE, 10), 20);
    assert_int_equal(stacks_adopt(&stacks, &small, &nodes), 0);
    inner = nodes.all[HR_STACK_ROOTS + 2];
    assert_int_equal(nodes.all[HR_STACK_BROKEN], HR_STACK_BROKEN);
    assert_int_equal(nodes.all[HR_STACK_ROOTS], outer + 1);
    assert_int_equal(nodes.all[HR_STACK_ROOTS + 1], outer);
    assert_int_equal(stacks_child(&stacks, outer, 20), inner);
    stacks_clear(&small);
    assert_int_equal(small.count, HR_STACK_ROOTS);
    stacks_child(&small, stacks_child(&small, HR_STACK_WHOLE, 10), 20);
    assert_int_equal(stacks_adopt(&stacks, &small, &nodes), 0);
    assert_int_equal(nodes.all[HR_STACK_ROOTS], outer);
    assert_int_equal(nodes.all[HR_STACK_ROOTS + 1], inner);
    assert_int_equal(stacks.count, inner + 1);
    stacks_free(&stacks);
    stacks_free(&small);
    free(nodes.all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_are_found_again),
        cmocka_unit_test(what_does_not_fit_is_cut),
        cmocka_unit_test(trees_are_adopted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
