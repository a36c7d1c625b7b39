/* Prints a tree of calls for people. */
#include <string.h>

#include "host/base/text.h"
#include "host/draw/columns.h"
#include "host/report/report.h"

#define SHARE_WIDTH 7u
#define COUNT_WIDTH 15u
#define INDENT_MAX 60u /* deeper frames are marked with their depth */
#define NAME_LEAST 24u /* columns that remain for names in a narrow terminal */

struct tree_layout {
    struct columns columns;
    unsigned int total, self, count, name; /* self 0: no such column */
    unsigned int indent_max;
};

static void lay_out(struct tree_layout *l, const struct report *r, bool callers)
{
    unsigned int columns = r->pager.columns;
    char name[72], room[16];

    memset(l, 0, sizeof *l);
    l->total = columns_add(&l->columns, "total", SHARE_WIDTH, true, 0);
    if (!callers)
        l->self = columns_add(&l->columns, "self", SHARE_WIDTH, true, 2);
    snprintf(name, sizeof name, "samples");
    if (r->profile.event >= 0)
        text_escape(name, sizeof name,
                    trace_info_event_name(&r->scan.info, (uint32_t)r->profile.event, room));
    l->count = columns_add(&l->columns, name, COUNT_WIDTH, true, 3);
    l->name = columns_add(&l->columns, callers ? "called from" : "call", 40, false, 0);
    l->columns.all[l->name].function = true;
    l->columns.full_names = r->options->full_names;
    columns_fit(&l->columns, columns);
    l->indent_max = INDENT_MAX;
    if (columns != PAGER_NO_TERMINAL) {
        unsigned int width = l->columns.all[l->name].width;

        l->indent_max = width > NAME_LEAST ? width - NAME_LEAST : 0;
    }
}

/* A range of addresses is not useful without its file. */
static void put_object(char *name, size_t room, const struct place *place)
{
    char object[200];
    size_t bytes = strlen(name);

    snprintf(name + bytes, room - bytes, "  %s", report_object(object, sizeof object, place));
}

static void put_name(char *cell, const struct place *place, unsigned int depth, unsigned int most)
{
    char name[COLUMNS_CELL_BYTES - 100];

    report_function(name, sizeof name, place);
    if (place->name == NULL && !place->inlined && place->object != NULL)
        put_object(name, sizeof name, place);
    if (depth <= most)
        snprintf(cell, COLUMNS_CELL_BYTES, "%*s%s", (int)depth, "", name);
    else
        snprintf(cell, COLUMNS_CELL_BYTES, "%*s%u> %s", (int)most, "", depth, name);
}

static void print_node(FILE *out, struct tree_layout *l, const struct report *r, uint64_t all,
                       const struct tree_node *node, unsigned int depth)
{
    double total = report_share(node->total, all);

    snprintf(l->columns.cells[l->total], COLUMNS_CELL_BYTES, "%.2f%%", total);
    if (l->self != 0)
        l->columns.cells[l->self][0] = 0;
    if (l->self != 0 && node->self != 0)
        snprintf(l->columns.cells[l->self], COLUMNS_CELL_BYTES, "%.2f%%",
                 report_share(node->self, all));
    text_count(l->columns.cells[l->count], node->total);
    put_name(l->columns.cells[l->name], &r->profile.places.all[node->place], depth, l->indent_max);
    l->columns.colour = !r->pager.colours ? NULL : total >= 5.0 ? "\033[31m" : "\033[32m";
    columns_print(out, &l->columns);
}

struct printing {
    FILE *out;
    const struct report *report;
    struct tree_layout layout;
    uint64_t all; /* what shares refer to */
    unsigned long printed;
    bool more;
};

static bool enter(void *context, const struct tree_node *node, uint32_t depth)
{
    struct printing *p = context;
    unsigned long limit = p->report->options->reader.limit;

    p->more = limit != 0 && p->printed >= limit;
    if (p->more)
        return false;
    print_node(p->out, &p->layout, p->report, p->all, node, depth);
    p->printed++;
    return true;
}

/* Prints the function's share of the run, because the shares below refer to the function. */
static void print_part(FILE *out, const struct report *r, uint64_t part)
{
    char name[256];

    columns_note(out, r->pager.columns, "%s and what it called: %.3g %% of the run; total: of that",
                 text_escape(name, sizeof name, r->called),
                 report_share(part, rows_weight(&r->profile.all, r->profile.event)));
}

void report_print_tree(FILE *out, const struct report *r, const struct tree *tree)
{
    struct printing p = {.out = out, .report = r, .all = report_tree_weight(r, tree)};
    unsigned long small;

    if (tree == &r->callers)
        print_part(out, r, p.all);
    lay_out(&p.layout, r, tree == &r->callers);
    columns_print_titles(out, &p.layout.columns);
    small = report_walk_tree(r, tree, enter, NULL, &p);
    if (p.more)
        columns_note(out, r->pager.columns, "more; --limit 0 shows all");
    if (small != 0)
        columns_note(out, r->pager.columns,
                     "%lu branches with less than %g %% are left out; --min 0 shows them", small,
                     r->options->min_percent);
}
