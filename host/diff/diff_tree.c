/* Joins two call trees by the names of their functions. */
#include "host/diff/diff_tree.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/base/text.h"
#include "host/report/profile.h"
#include "host/report/report.h"
#include "host/trace/event_kind.h"
#include "lib/hash.h"

#define INDEX_BITS 21u /* more than twice TREE_NODES_MAX of each trace */
#define NAME_BYTES 4096
#define STUB_MARK " (stub)"

static int add_function(struct diff_tree *t, const char *name, const char *object, bool kernel)
{
    struct diff_tree_function *f;

    if (array_grow(&t->functions, t->function_count, sizeof t->functions[0]) != 0)
        return -ENOMEM;
    f = &t->functions[t->function_count++];
    *f = (struct diff_tree_function){strdup(name), strdup(object), kernel};
    return f->name != NULL && f->object != NULL ? 0 : -ENOMEM;
}

/* The function of a name; *error where there is no memory. */
static uint32_t find_function(struct diff_tree *t, const char *name, const char *object,
                              bool kernel, int *error)
{
    uint64_t hash =
        hash_bytes(hash_bytes(HASH_BYTES_START, name, strlen(name) + 1), object, strlen(object));
    uint32_t i = hash_place(hash, INDEX_BITS);

    for (; t->function_index[i] != 0; i = (i + 1) & ((1u << INDEX_BITS) - 1)) {
        const struct diff_tree_function *f = &t->functions[t->function_index[i] - 1];

        if (strcmp(f->name, name) == 0 && strcmp(f->object, object) == 0)
            return t->function_index[i] - 1;
    }
    if (*error == 0)
        *error = add_function(t, name, object, kernel);
    if (*error != 0)
        return 0;
    t->function_index[i] = t->function_count;
    return t->function_count - 1;
}

static uint32_t find_child(struct diff_tree *t, uint32_t parent, uint32_t function, int *error)
{
    uint32_t i = hash_place((uint64_t)parent << 32 | function, INDEX_BITS);

    for (; t->node_index[i] != 0; i = (i + 1) & ((1u << INDEX_BITS) - 1)) {
        const struct diff_tree_node *node = &t->nodes[t->node_index[i] - 1];

        if (node->parent == parent && node->function == function)
            return t->node_index[i] - 1;
    }
    if (array_grow(&t->nodes, t->node_count, sizeof t->nodes[0]) != 0) {
        *error = -ENOMEM;
        return parent;
    }
    t->nodes[t->node_count] = (struct diff_tree_node){.parent = parent, .function = function};
    t->node_index[i] = ++t->node_count;
    return t->node_count - 1;
}

/* Without a name it is unknown: ranges of addresses would not be the same in another build. */
static uint32_t function_of(struct diff_tree *t, const struct place *place, int side, int *error)
{
    char name[NAME_BYTES];
    const char *object = place->object != NULL ? place->object : "";

    if (side == 1 && t->own[1][0] != 0 && strcmp(object, t->own[1]) == 0)
        object = t->own[0];
    if (place->name != NULL)
        report_function(name, sizeof name, place);
    return find_function(t, place->name != NULL ? name : "[no symbols]", object, place->kernel,
                         error);
}

static int merge(struct diff_tree *t, const struct profile *p, int side)
{
    const struct tree *from = &p->tree;
    uint32_t *nodes = calloc(from->count, sizeof nodes[0]);
    int error = nodes != NULL ? 0 : -ENOMEM;

    for (uint32_t i = 0; i < from->count && error == 0; i++) {
        const struct tree_node *node = &from->nodes[i];

        if (i == TREE_ROOT || (node->parent == TREE_ROOT && node->place == PLACES_NO_STACK))
            nodes[i] = DIFF_TREE_ROOT;
        else
            nodes[i] =
                find_child(t, nodes[node->parent],
                           function_of(t, &p->places.all[node->place], side, &error), &error);
        t->nodes[nodes[i]].self[side] += node->self;
    }
    free(nodes);
    return error;
}

static void describe(struct diff_tree *t, const struct trace_scan *scan, int side)
{
    const struct trace_info *info = &scan->info;

    snprintf(t->programs[side], DIFF_TREE_PROGRAM_BYTES, "%s",
             trace_info_text(info, "program.args", "unknown program"));
    snprintf(t->own[side], sizeof t->own[side], "%s",
             text_base_name(trace_info_text(info, "program.path", "")));
    t->exact = (side == 0 || t->exact) && info->clock.method == HR_CLOCK_VIRTUAL;
    t->incomplete[side] = !scan->partial && !trace_audit_complete(&scan->audit);
}

static bool measured(const struct trace_info *info)
{
    int event = event_kind_instructions(info);

    return event >= 0 && info->events[event].meta.source != HR_SOURCE_STUB &&
           info->events[event].meta.source != HR_SOURCE_NONE;
}

/* A count that is no measurement does not look like one. */
static void mark_stub(struct diff_tree *t, const struct trace_info *info, int event)
{
    size_t bytes = strlen(t->event);

    if (event >= 0 && info->events[event].meta.source == HR_SOURCE_STUB &&
        strstr(t->event, STUB_MARK) == NULL)
        snprintf(t->event + bytes, sizeof t->event - bytes, STUB_MARK);
}

static int read_side(struct diff_tree *t, struct trace_scan *scan, int side, const char *event)
{
    struct profile_options options = {.by = PLACE_FUNCTION, .tree = true};
    struct trace_head head = {0};
    struct profile profile = {0};
    int error = trace_scan_head(scan, &head);

    if (error != 0)
        return error;
    options.stacks = head.stacks;
    t->stacks |= head.stacks;
    options.sort = strcmp(event, "samples") != 0 ? event : NULL;
    error = profile_run(&profile, scan, &options, 0);
    if (error == 0 && profile.event == -2)
        error = -ENOENT;
    if (error == 0 && profile.all.samples == 0)
        error = -ENODATA;
    if (error == 0)
        describe(t, scan, side);
    if (error == 0 && !scan->info.has_exact)
        t->strides[side] = profile.event < 0 ? 1
                                             : (double)profile.all.sums[profile.event] /
                                                   (double)profile.all.samples;
    if (error == 0)
        mark_stub(t, &scan->info, profile.event);
    if (error == 0)
        error = merge(t, &profile, side);
    profile_free(&profile);
    return error;
}

static int open_side(struct trace_scan *scan, const char *path, const struct selection *selection,
                     const struct symbols_options *symbols)
{
    int error = trace_scan_open(scan, path);

    if (error != 0)
        return error;
    scan->symbols = symbols;
    error = selection_copy(&scan->selection, selection);
    if (error != 0)
        trace_scan_close(scan);
    return error;
}

/* Instructions, where both measured them. */
static int choose_event(struct diff_tree *t, const char *const paths[2], const char *event,
                        int *failed)
{
    bool both = true;

    if (event != NULL) {
        snprintf(t->event, 64, "%s", event);
        return 0;
    }
    for (*failed = 0; *failed < 2; (*failed)++) {
        struct trace_scan scan;
        int error = trace_scan_open(&scan, paths[*failed]);

        if (error == 0) {
            error = trace_scan_info(&scan);
            both &= measured(&scan.info);
            trace_scan_close(&scan);
        }
        if (error < 0)
            return error;
    }
    snprintf(t->event, sizeof t->event, "%s", both ? "instructions" : "samples");
    return 0;
}

static int by_parent(const void *x, const void *y, void *context)
{
    const struct diff_tree *t = context;
    const struct diff_tree_node *a = &t->nodes[*(const uint32_t *)x];
    const struct diff_tree_node *b = &t->nodes[*(const uint32_t *)y];
    const struct diff_tree_function *f = &t->functions[a->function],
                                    *g = &t->functions[b->function];
    int order;

    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    order = strcmp(f->name, g->name);
    return order != 0 ? order : strcmp(f->object, g->object);
}

static int finish(struct diff_tree *t)
{
    uint32_t at = 0;

    t->children = calloc(t->node_count, sizeof t->children[0]);
    t->first = calloc((size_t)t->node_count + 1, sizeof t->first[0]);
    if (t->children == NULL || t->first == NULL)
        return -ENOMEM;
    for (uint32_t i = t->node_count; i-- > 0;)
        for (int side = 0; side < 2; side++) {
            struct diff_tree_node *node = &t->nodes[i];

            node->total[side] += node->self[side];
            if (i != DIFF_TREE_ROOT)
                t->nodes[node->parent].total[side] += node->total[side];
        }
    for (uint32_t i = 1; i < t->node_count; i++)
        t->children[i - 1] = i;
    qsort_r(t->children, t->node_count - 1, sizeof t->children[0], by_parent, t);
    for (uint32_t parent = 0; parent <= t->node_count; parent++) {
        while (at + 1 < t->node_count && t->nodes[t->children[at]].parent < parent)
            at++;
        t->first[parent] = at;
    }
    return 0;
}

int diff_tree_read(struct diff_tree *t, const char *const paths[2],
                   const struct selection *selection, const struct symbols_options *symbols,
                   const char *event, int *failed)
{
    char chosen[sizeof t->event];
    struct trace_scan scan;
    int error;

    *t = (struct diff_tree){0};
    t->node_index = calloc(1u << INDEX_BITS, sizeof t->node_index[0]);
    t->function_index = calloc(1u << INDEX_BITS, sizeof t->function_index[0]);
    if (t->node_index == NULL || t->function_index == NULL ||
        array_grow(&t->nodes, 0, sizeof t->nodes[0]) != 0)
        return -ENOMEM;
    t->nodes[t->node_count++] = (struct diff_tree_node){0};
    error = choose_event(t, paths, event, failed);
    if (error != 0)
        return error;
    strcpy(chosen, t->event);
    for (*failed = 0; *failed < 2; (*failed)++) {
        error = open_side(&scan, paths[*failed], selection, symbols);
        if (error == 0) {
            error = read_side(t, &scan, *failed, chosen);
            trace_scan_close(&scan);
        }
        if (error != 0)
            return error;
    }
    return finish(t);
}

void diff_tree_free(struct diff_tree *t)
{
    for (uint32_t i = 0; i < t->function_count; i++) {
        free(t->functions[i].name);
        free(t->functions[i].object);
    }
    free(t->functions);
    free(t->nodes);
    free(t->children);
    free(t->first);
    free(t->node_index);
    free(t->function_index);
    *t = (struct diff_tree){0};
}

double diff_tree_change(const struct diff_tree *t, const struct diff_tree_node *node)
{
    double before = (double)node->total[0], after = (double)node->total[1];
    double more = before > after ? before : after;
    double chance = 3 * sqrt(t->strides[0] * before + t->strides[1] * after);

    return more > 0 && fabs(after - before) > chance ? (after - before) / more : 0;
}
