/* Packs a tree of differences for the page. */
#include "host/view/html/view_diff.h"

#include <stdlib.h>

#include "host/base/text.h"
#include "host/view/data/view_columns.h"
#include "host/view/html/view_page.h"

#define NAME_BYTES 400u /* longer names are cut */

/* As the page's other functions: name, object, part of the kernel, inlined; the name says the last
 * two. */
static json_t *functions_json(const struct diff_tree *t)
{
    json_t *functions = json_array();
    char name[NAME_BYTES], object[NAME_BYTES];

    json_array_append_new(functions, json_pack("[s, s, b, b]", "", "", 0, 0)); /* of the root */
    for (uint32_t i = 0; i < t->function_count; i++) {
        text_escape(name, sizeof name, t->functions[i].name);
        text_escape(object, sizeof object, t->functions[i].object);
        json_array_append_new(functions, json_pack("[s, s, b, b]", name, object, 0, 0));
    }
    return functions;
}

static void put_facts(const struct diff_tree *t, struct view_columns *c)
{
    char before[DIFF_TREE_PROGRAM_BYTES * 2], after[DIFF_TREE_PROGRAM_BYTES * 2];

    view_columns_set(c, "programs",
                     json_pack("[s, s]", text_escape(before, sizeof before, t->programs[0]),
                               text_escape(after, sizeof after, t->programs[1])));
    text_escape(before, sizeof before, t->event);
    view_columns_set(c, "event", json_string(before));
    view_columns_set(c, "strides", json_pack("[f, f]", t->strides[0], t->strides[1]));
    view_columns_set(c, "incomplete", json_pack("[b, b]", t->incomplete[0], t->incomplete[1]));
    view_columns_set(c, "stacks", json_boolean(t->stacks));
    view_columns_set(c, "exact", json_boolean(t->exact));
    view_columns_set(c, "functions", functions_json(t));
}

static void put_nodes(const struct diff_tree *t, struct view_columns *c)
{
    view_columns_begin(c);
    for (uint32_t i = 0; i < t->node_count; i++)
        view_columns_put(c, t->nodes[i].parent);
    view_columns_end(c, "parent");
    view_columns_begin(c);
    for (uint32_t i = 0; i < t->node_count; i++)
        view_columns_put(c, i != DIFF_TREE_ROOT ? t->nodes[i].function + 1 : 0);
    view_columns_end(c, "function");
    for (int side = 0; side < 2; side++) {
        view_columns_begin(c);
        for (uint32_t i = 0; i < t->node_count; i++)
            view_columns_put(c, t->nodes[i].self[side]);
        view_columns_end(c, side == 0 ? "before" : "after");
    }
}

int view_diff_write(struct output *out, const struct diff_tree *t)
{
    struct view_columns columns;
    uint8_t *bytes = NULL;
    size_t count = 0;
    int error;

    view_columns_init(&columns);
    put_facts(t, &columns);
    put_nodes(t, &columns);
    error = view_columns_finish(&columns, &bytes, &count);
    if (error == 0)
        error = view_page_write_part(out, "diff", bytes, count);
    free(bytes);
    view_columns_free(&columns);
    return error;
}
