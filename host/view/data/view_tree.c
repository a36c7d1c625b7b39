/* Makes a tree of functions out of stacks of addresses. */
#include "host/view/data/view_tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/text.h"
#include "lib/hash.h"

#define INDEX_BITS (VIEW_TREE_NODES_BITS + 1) /* of hash tables: at most half full */
#define FUNCTION_BITS 16u
_Static_assert(VIEW_TREE_FUNCTIONS_MAX <= 1u << (FUNCTION_BITS - 1), "functions");
#define CACHE_BITS 16u
#define NAME_BYTES 400u /* longer names are cut */

int view_tree_init(struct view_tree *tree)
{
    memset(tree, 0, sizeof *tree);
    tree->functions = calloc(VIEW_TREE_FUNCTIONS_MAX, sizeof tree->functions[0]);
    tree->function_index = calloc(1u << FUNCTION_BITS, sizeof tree->function_index[0]);
    tree->nodes = calloc(VIEW_TREE_NODES_MAX, sizeof tree->nodes[0]);
    tree->node_index = calloc(1u << INDEX_BITS, sizeof tree->node_index[0]);
    tree->cache = calloc(1u << CACHE_BITS, sizeof tree->cache[0]);
    if (tree->functions == NULL || tree->function_index == NULL || tree->nodes == NULL ||
        tree->node_index == NULL || tree->cache == NULL) {
        view_tree_free(tree);
        return -ENOMEM;
    }
    tree->function_count = VIEW_FUNCTIONS_FIXED;
    tree->node_count = 1; /* the root */
    return 0;
}

void view_tree_free(struct view_tree *tree)
{
    free(tree->functions);
    free(tree->function_index);
    free(tree->nodes);
    free(tree->node_index);
    free(tree->stack_nodes);
    free(tree->cache);
    memset(tree, 0, sizeof *tree);
}

static bool is_name(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static uint32_t find_function(struct view_tree *tree, const struct symbols_place *place,
                              const char *name, bool inlined)
{
    uint32_t mask = (1u << FUNCTION_BITS) - 1, i;
    struct view_function *f;

    for (i = hash_place(place->start, FUNCTION_BITS); tree->function_index[i] != 0;
         i = (i + 1) & mask) {
        f = &tree->functions[tree->function_index[i]];
        if (f->start == place->start && f->inlined == inlined && is_name(f->name, name))
            return tree->function_index[i];
    }
    if (tree->function_count == VIEW_TREE_FUNCTIONS_MAX)
        return VIEW_FUNCTION_OTHER;
    tree->functions[tree->function_count] = (struct view_function){
        name, place->object, place->start, place->end, place->kernel, inlined,
    };
    tree->function_index[i] = tree->function_count;
    return tree->function_count++;
}

static uint32_t child(struct view_tree *tree, uint32_t parent, uint32_t function)
{
    uint32_t mask = (1u << INDEX_BITS) - 1;
    uint32_t i = hash_place((uint64_t)parent << 32 | function, INDEX_BITS);

    for (; tree->node_index[i] != 0; i = (i + 1) & mask) {
        const struct view_tree_node *node = &tree->nodes[tree->node_index[i]];

        if (node->parent == parent && node->function == function)
            return tree->node_index[i];
    }
    if (tree->node_count == VIEW_TREE_NODES_MAX) {
        tree->refused++;
        return parent;
    }
    tree->nodes[tree->node_count] = (struct view_tree_node){parent, function};
    tree->node_index[i] = tree->node_count;
    return tree->node_count++;
}

/* The node of an address whose caller is `node`: below its function what was inlined there. */
static uint32_t below(struct view_tree *tree, uint32_t node, uint64_t address)
{
    struct symbols_frame frames[SYMBOLS_FRAMES_MAX];
    struct symbols_place place;
    uint32_t count = symbols_frames(tree->symbols, address, frames);

    symbols_find(tree->symbols, address, &place);
    node = child(tree, node, find_function(tree, &place, place.name, false));
    while (count-- > 1)
        node = child(tree, node, find_function(tree, &place, frames[count - 1].function, true));
    return node;
}

/* The node that a stack's outermost frames hang from.  A chain of frame pointers that breaks where
 * threads begin has all of them. */
static uint32_t root_node(struct view_tree *tree, uint32_t root, uint64_t outermost)
{
    struct symbols_place place;

    if (root == HR_STACK_BROKEN && symbols_find(tree->symbols, outermost, &place) &&
        symbols_is_start(place.name))
        return 0;
    if (root == HR_STACK_CUT)
        return child(tree, 0, VIEW_FUNCTION_CUT);
    return root == HR_STACK_BROKEN ? child(tree, 0, VIEW_FUNCTION_BROKEN) : 0;
}

/* The node of a stack's innermost frame. */
static uint32_t stack_node(struct view_tree *tree, const struct stacks *stacks, uint32_t stack,
                           uint64_t ip, int *error)
{
    uint32_t path[HR_STACK_FRAMES_MAX], depth = 0, node;
    uint64_t outermost = ip;

    if (stacks_extend(stacks, &tree->stack_nodes, &tree->stack_room, sizeof tree->stack_nodes[0]) !=
        0) {
        *error = -ENOMEM;
        return 0;
    }
    while (stack >= HR_STACK_ROOTS && stack < stacks->count && tree->stack_nodes[stack] == 0) {
        if (depth < HR_STACK_FRAMES_MAX)
            path[depth++] = stack;
        outermost = stacks->nodes[stack].address - 1;
        stack = stacks->nodes[stack].parent;
    }
    node = stack < HR_STACK_ROOTS ? root_node(tree, stack, outermost) : tree->stack_nodes[stack];
    while (depth != 0) {
        uint32_t frame = path[--depth];

        node = below(tree, node, stacks->nodes[frame].address - 1);
        tree->stack_nodes[frame] = node;
    }
    return node;
}

uint32_t view_tree_sample(struct view_tree *tree, const struct stacks *stacks, uint32_t stack,
                          uint64_t ip, int *error)
{
    struct view_tree_place *place =
        &tree->cache[hash_place(ip ^ (uint64_t)stack << 40, CACHE_BITS)];

    if (place->node != 0 && place->ip == ip && place->stack == stack)
        return place->node;
    place->ip = ip;
    place->stack = stack;
    place->node = below(tree, stack_node(tree, stacks, stack, ip, error), ip);
    return place->node;
}

void view_tree_forget(struct view_tree *tree)
{
    free(tree->stack_nodes);
    tree->stack_nodes = NULL;
    tree->stack_room = 0;
    memset(tree->cache, 0, sizeof tree->cache[0] << CACHE_BITS);
}

static json_t *function_json(const struct view_function *f)
{
    char name[NAME_BYTES], object[NAME_BYTES];

    if (f->name != NULL)
        text_escape(name, sizeof name, f->name);
    else if (f->end != 0)
        snprintf(name, sizeof name, "0x%lx..0x%lx", trace_spaces_shown(f->start),
                 trace_spaces_shown(f->end - 1));
    else
        name[0] = 0; /* the page names the functions that are none */
    text_escape(object, sizeof object, f->object != NULL ? f->object : "");
    return json_pack("[s, s, b, b]", name, object, f->kernel, f->inlined);
}

void view_tree_pack(const struct view_tree *tree, struct view_columns *columns)
{
    json_t *functions = json_array();

    for (uint32_t i = 0; i < tree->function_count; i++)
        json_array_append_new(functions, function_json(&tree->functions[i]));
    view_columns_set(columns, "functions", functions);
    view_columns_set(columns, "calls_refused", json_integer((json_int_t)tree->refused));
    view_columns_begin(columns);
    for (uint32_t i = 0; i < tree->node_count; i++)
        view_columns_put(columns, tree->nodes[i].parent);
    view_columns_end(columns, "parent");
    view_columns_begin(columns);
    for (uint32_t i = 0; i < tree->node_count; i++)
        view_columns_put(columns, tree->nodes[i].function);
    view_columns_end(columns, "function");
}
