/* Tests of host/report/rows.c, tree.c, groups.c and sections.c: what is counted where, and that
 * nothing is lost when there is no more room.
 */
#include "host/report/groups.h"
#include "host/report/rows.h"
#include "host/report/sections.h"
#include "host/report/tree.h"
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

static int by_place(const struct row *a, const struct row *b, void *context)
{
    (void)context;
    return a->place < b->place ? -1 : a->place > b->place;
}

static void rows_are_bounded(void **state)
{
    const uint64_t sums[2] = {3, 1};
    uint64_t samples = 0, events = 0;
    struct rows rows;

    (void)state;
    assert_int_equal(rows_init(&rows), 0);
    for (uint32_t i = 0; i < 2 * ROWS_MAX; i++)
        rows_add(&rows.all[rows_number(&rows, 1 + i % 3, 100 + i)].self, 2, sums, 2);
    rows_add(&rows.all[rows_number(&rows, 2, 101)].self, 5, sums, 2);
    assert_true(rows.full);
    assert_int_equal(rows.count, ROWS_MAX);
    for (uint32_t i = 0; i < rows.count; i++) {
        samples += rows.all[i].self.samples;
        events += rows.all[i].self.sums[0];
    }
    assert_int_equal(samples, 4ull * ROWS_MAX + 5);
    assert_int_equal(events, 6ull * ROWS_MAX + 3);
    rows_sort(&rows, -1, false, by_place, NULL);
    assert_int_equal(rows.all[0].group, 0); /* the rest, which is the most */
    assert_int_equal(rows.all[1].place, 101);
    assert_int_equal(rows.all[2].place, 100);
    rows_free(&rows);
}

static int by_number(uint32_t a, uint32_t b, void *context)
{
    (void)context;
    return a < b ? -1 : a > b;
}

static void trees_add_up(void **state)
{
    struct tree tree;
    uint32_t a, b;

    (void)state;
    assert_int_equal(tree_init(&tree), 0);
    a = tree_child(&tree, TREE_ROOT, 10);
    b = tree_child(&tree, TREE_ROOT, 9);
    tree.nodes[tree_child(&tree, a, 20)].self += 5;
    tree.nodes[tree_child(&tree, a, 30)].self += 7;
    tree.nodes[tree_child(&tree, a, 20)].self += 1;
    tree.nodes[tree_child(&tree, a, 25)].self += 7;
    tree.nodes[a].self = 2;
    tree.nodes[b].self = 22;
    assert_int_equal(tree_finish(&tree, by_number, NULL), 0);
    assert_int_equal(tree.nodes[TREE_ROOT].total, 44);
    assert_int_equal(tree.nodes[a].total, 22);
    assert_int_equal(tree.first[TREE_ROOT + 1] - tree.first[TREE_ROOT], 2);
    assert_int_equal(tree.children[0], b); /* equal totals: the smaller place */
    assert_int_equal(tree.first[a + 1] - tree.first[a], 3);
    assert_int_equal(tree.nodes[tree.children[tree.first[a]]].place, 25);
    assert_int_equal(tree.nodes[tree.children[tree.first[a] + 2]].place, 20);
    assert_int_equal(tree.first[b + 1], tree.first[b]);
    tree_free(&tree);
}

static void trees_are_bounded(void **state)
{
    struct tree tree;
    uint32_t last = TREE_ROOT;

    (void)state;
    assert_int_equal(tree_init(&tree), 0);
    for (uint32_t i = 0; i < TREE_NODES_MAX + 10; i++) {
        last = tree_child(&tree, i % 100 != 0 ? last : TREE_ROOT, i);
        tree.nodes[last].self++;
    }
    assert_true(tree.full);
    assert_int_equal(tree.count, TREE_NODES_MAX);
    assert_int_equal(tree_finish(&tree, by_number, NULL), 0);
    assert_int_equal(tree.nodes[TREE_ROOT].total, TREE_NODES_MAX + 10);
    tree_free(&tree);
}

static void groups_are_bounded(void **state)
{
    struct groups groups;
    uint32_t first;

    (void)state;
    assert_int_equal(groups_init(&groups), 0);
    first = groups_find(&groups, (struct group){1, 0, 2, 3});
    assert_int_not_equal(first, GROUPS_OTHERS);
    for (uint32_t i = 0; i < GROUPS_MAX; i++)
        groups_find(&groups, (struct group){i, 0, i * 7, 0});
    assert_true(groups.full);
    assert_int_equal(groups.count, GROUPS_MAX);
    assert_int_equal(groups_find(&groups, (struct group){7, 0, 7, 7}), GROUPS_OTHERS);
    assert_int_equal(groups_find(&groups, (struct group){1, 0, 2, 3}), first);
    groups_free(&groups);
}

static char *copy(const char *text)
{
    char *result = strdup(text);

    assert_non_null(result);
    return result;
}

static void sections_go_from_mark_to_mark(void **state)
{
    struct report_marks marks = {.count = 4};
    struct sections s;
    uint64_t until;
    size_t at = 0;

    (void)state;
    marks.all = calloc(4, sizeof marks.all[0]);
    assert_non_null(marks.all);
    marks.all[0] = (struct report_mark){.time = 300, .text = copy("turn")};
    marks.all[1] = (struct report_mark){.time = 100, .text = copy("turn")};
    marks.all[2] = (struct report_mark){.time = 200, .text = copy("rest")};
    marks.all[3] = (struct report_mark){.time = 400, .text = copy("end")};
    assert_int_equal(sections_init(&s, &marks), 0);
    assert_int_equal(sections_find(&s, 99, &at, &until), SECTIONS_BEFORE);
    assert_int_equal(until, 100);
    assert_string_equal(s.texts[sections_find(&s, 100, &at, &until)], "turn");
    assert_int_equal(until, 200);
    assert_string_equal(s.texts[sections_find(&s, 399, &at, &until)], "turn");
    assert_string_equal(s.texts[sections_find(&s, 250, &at, &until)], "rest"); /* backwards */
    assert_int_equal(until, 300);
    assert_string_equal(s.texts[sections_find(&s, 1000, &at, &until)], "end");
    assert_int_equal(until, UINT64_MAX);
    sections_free(&s);
    report_marks_free(&marks);
    assert_int_equal(sections_init(&s, &marks), 0); /* no marks: one section */
    assert_int_equal(sections_find(&s, 5, &at, &until), SECTIONS_BEFORE);
    sections_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_bounded),
        cmocka_unit_test(trees_add_up),
        cmocka_unit_test(trees_are_bounded),
        cmocka_unit_test(groups_are_bounded),
        cmocka_unit_test(sections_go_from_mark_to_mark),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
