/* Prints a profile's rows as a table for people. */
#include <math.h>
#include <string.h>

#include "host/base/text.h"
#include "host/draw/columns.h"
#include "host/report/report.h"

#define SHARE_WIDTH 7u
#define ERROR_WIDTH 6u
#define COUNT_WIDTH 15u
#define EVENT_WIDTH 20u
#define METRIC_WIDTH 8u
#define HOT_PERCENT 5.0 /* red; green down to ... */
#define WARM_PERCENT 0.5

struct layout { /* column numbers */
    struct columns columns;
    unsigned int share, error, total, samples, event, metrics; /* the first of them */
    unsigned int by[REPORT_DIMENSIONS][2];
};

static void add_dimension(struct layout *l, unsigned int i, enum report_dimension by)
{
    static const struct {
        const char *titles[2];
        unsigned int widths[2];
        unsigned int ranks[2];
        bool number;
    } kinds[REPORT_DIMENSIONS] = {
        [REPORT_BY_FUNCTION] = {{"symbol", "object"}, {32, 20}, {0, 4}, false},
        [REPORT_BY_LINE] = {{"line", "function"}, {40, 32}, {0, 4}, false},
        [REPORT_BY_LIBRARY] = {{"library", NULL}, {32, 0}, {0, 0}, false},
        [REPORT_BY_ADDRESS] = {{"address", "symbol"}, {18, 32}, {0, 0}, true},
        [REPORT_BY_PROCESS] = {{"pid", "process"}, {7, 20}, {0, 0}, true},
        [REPORT_BY_THREAD] = {{"thread", NULL}, {7, 0}, {0, 0}, true},
        [REPORT_BY_CPU] = {{"cpu", NULL}, {5, 0}, {0, 0}, true},
        [REPORT_BY_MARK] = {{"section", NULL}, {32, 0}, {0, 0}, false},
    };

    for (unsigned int n = 0; n < 2 && kinds[by].titles[n] != NULL; n++)
        l->by[i][n] = columns_add(&l->columns, kinds[by].titles[n], kinds[by].widths[n],
                                  kinds[by].number && n == 0, kinds[by].ranks[n]);
    if (by == REPORT_BY_FUNCTION || by == REPORT_BY_LINE)
        l->columns.all[l->by[i][by == REPORT_BY_LINE]].function = true;
}

static void lay_out(struct layout *l, const struct report *r)
{
    char name[72], room[16];

    memset(l, 0, sizeof *l);
    l->share = columns_add(&l->columns, r->wanted.stacks ? "self" : "share", SHARE_WIDTH, true, 0);
    if (!r->scan.info.has_exact)
        l->error = columns_add(&l->columns, "+-", ERROR_WIDTH, true, 2);
    if (r->wanted.stacks)
        l->total = columns_add(&l->columns, "total", SHARE_WIDTH, true, r->options->total ? 0 : 1);
    l->samples =
        columns_add(&l->columns, trace_info_weight_word(&r->scan.info), COUNT_WIDTH, true, 3);
    if (r->shown >= 0) {
        text_escape(name, sizeof name,
                    trace_info_event_name(&r->scan.info, (uint32_t)r->shown, room));
        l->event = columns_add(&l->columns, name, EVENT_WIDTH, true, 5);
    }
    for (uint32_t i = 0; i < r->metrics.count; i++) {
        unsigned int column =
            columns_add(&l->columns, metrics_show_title(name, metrics_chosen(&r->metrics, i)),
                        METRIC_WIDTH, true, 0);

        l->metrics = i == 0 ? column : l->metrics;
    }
    for (unsigned int i = 0; i < r->options->by_count; i++)
        add_dimension(l, i, r->options->by[i]);
    columns_fit(&l->columns, r->pager.columns);
    l->columns.full_names = r->options->full_names;
}

static void put_share(char *cell, double share)
{
    snprintf(cell, COLUMNS_CELL_BYTES, "%.2f%%", share);
}

/* Three standard deviations of a share, as a part of 1, given its samples, by the binomial
 * distribution.  It is less if the program stays in a place for many samples. */
static double share_error(double share, uint64_t samples)
{
    return samples != 0 && share < 1 ? 3 * share * sqrt((1 - share) / (double)samples) : 0;
}

static void put_line(char *cell, const struct place *place)
{
    char safe[COLUMNS_CELL_BYTES - 16];

    if (place->file != NULL)
        snprintf(cell, COLUMNS_CELL_BYTES, "%s:%u", text_escape(safe, sizeof safe, place->file),
                 place->line);
    else
        snprintf(cell, COLUMNS_CELL_BYTES, "[unknown]");
}

static void put_address(char *cell, char *symbol, const struct place *place)
{
    char name[COLUMNS_CELL_BYTES - 32];

    snprintf(cell, COLUMNS_CELL_BYTES, "0x%lx", trace_spaces_shown(place->start));
    symbol[0] = 0;
    if (place->name != NULL)
        snprintf(symbol, COLUMNS_CELL_BYTES, "%s+0x%lx", report_function(name, sizeof name, place),
                 place->offset);
}

static void put_dimension(struct layout *l, const struct report *r, const struct row *row,
                          unsigned int i)
{
    const struct place *place = &r->profile.places.all[row->place];
    const struct group *group = &r->profile.groups.all[row->group];
    char *first = l->columns.cells[l->by[i][0]], *second = l->columns.cells[l->by[i][1]];

    switch (r->options->by[i]) {
    case REPORT_BY_FUNCTION:
        report_function(first, COLUMNS_CELL_BYTES, place);
        report_object(second, COLUMNS_CELL_BYTES, place);
        break;
    case REPORT_BY_LINE:
        put_line(first, place);
        report_function(second, COLUMNS_CELL_BYTES, place);
        break;
    case REPORT_BY_LIBRARY:
        report_object(first, COLUMNS_CELL_BYTES, place);
        break;
    case REPORT_BY_ADDRESS:
        put_address(first, second, place);
        break;
    case REPORT_BY_PROCESS:
        snprintf(first, COLUMNS_CELL_BYTES, "%u", report_pid(r, group));
        text_escape(second, COLUMNS_CELL_BYTES,
                    trace_info_process_name(&r->scan.info, group->process, UINT64_MAX));
        break;
    case REPORT_BY_THREAD:
        snprintf(first, COLUMNS_CELL_BYTES, "%u", group->tid);
        break;
    case REPORT_BY_CPU:
        snprintf(first, COLUMNS_CELL_BYTES, "%u", group->cpu);
        break;
    case REPORT_BY_MARK:
        text_escape(first, COLUMNS_CELL_BYTES, r->sections.texts[group->section]);
        break;
    default:
        break;
    }
}

/* The row of everything that did not fit has a name in one column only. */
static void put_rest(struct layout *l)
{
    for (unsigned int i = l->by[0][0]; i < l->columns.count; i++)
        l->columns.cells[i][0] = 0;
    snprintf(l->columns.cells[l->by[0][0]], COLUMNS_CELL_BYTES, "[everything else]");
}

static void print_row(FILE *out, struct layout *l, const struct report *r, const struct row *row)
{
    const struct profile *p = &r->profile;
    uint64_t all = rows_weight(&p->all, p->event);
    double share = report_share(rows_weight(&row->self, p->event), all);
    double total = report_share(rows_weight(&row->total, p->event), all);
    double hot = r->options->total ? total : share, error = 0;

    for (unsigned int i = 0; i < r->options->by_count; i++)
        put_dimension(l, r, row, i);
    if (row->group == GROUPS_OTHERS)
        put_rest(l);
    put_share(l->columns.cells[l->share], share);
    if (!r->scan.info.has_exact) {
        error = 100 * share_error(share / 100, row->self.samples);
        snprintf(l->columns.cells[l->error], COLUMNS_CELL_BYTES, "%.2f", error);
    }
    l->columns.dim = r->pager.colours && error != 0 && hot <= error;
    if (r->wanted.stacks)
        put_share(l->columns.cells[l->total], total);
    text_count(l->columns.cells[l->samples], row->self.samples);
    if (r->shown >= 0)
        text_count(l->columns.cells[l->event], row->self.sums[r->shown]);
    for (uint32_t i = 0; i < r->metrics.count; i++)
        metrics_show_value(l->columns.cells[l->metrics + i],
                           report_metric(r, i, r->options->total ? &row->total : &row->self));
    l->columns.colour = !r->pager.colours     ? NULL
                        : hot >= HOT_PERCENT  ? "\033[31m"
                        : hot >= WARM_PERCENT ? "\033[32m"
                                              : NULL;
    columns_print(out, &l->columns);
}

void report_print_table(FILE *out, struct report *r)
{
    const struct profile *p = &r->profile;
    struct layout layout;
    unsigned long printed = 0, small = 0;

    lay_out(&layout, r);
    columns_print_titles(out, &layout.columns);
    for (uint32_t i = 0; i < p->rows.count; i++) {
        const struct row *row = &p->rows.all[i];

        if (!report_wanted_row(r, row))
            small++;
        else if (r->options->reader.limit == 0 || printed < r->options->reader.limit) {
            print_row(out, &layout, r, row);
            printed++;
        }
    }
    if (p->rows.count - small > printed)
        columns_note(out, r->pager.columns, "%lu more; --limit 0 shows all",
                     p->rows.count - small - printed);
    if (small != 0)
        columns_note(out, r->pager.columns, "%lu more with less than %g %%; --min 0 shows all",
                     small, r->options->min_percent);
}
