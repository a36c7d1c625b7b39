/* Writes a profile as CSV: the columns are a stable interface. */
#include <math.h>

#include "host/base/output.h"
#include "host/report/report.h"

/* The columns of each dimension; both tables have the order of the cells below. */
static const char *const titles[REPORT_DIMENSIONS] = {
    [REPORT_BY_FUNCTION] = "function,object,start",
    [REPORT_BY_LINE] = "file,line,function,object",
    [REPORT_BY_LIBRARY] = "object",
    [REPORT_BY_ADDRESS] = "address,function,offset,object",
    [REPORT_BY_PROCESS] = "pid,process",
    [REPORT_BY_THREAD] = "thread",
    [REPORT_BY_CPU] = "cpu",
    [REPORT_BY_MARK] = "mark",
};

/* A function as in the table for people, but for ranges, which their start says. */
static void put_function(struct output *out, const struct place *place)
{
    char text[512] = "";

    if (place->name != NULL)
        report_function(text, sizeof text, place);
    output_csv(out, text);
}

static void put_object(struct output *out, const struct place *place)
{
    char text[512];

    output_csv(out, report_object(text, sizeof text, place));
}

static void put_line(struct output *out, const struct place *place)
{
    output_csv_text(out, place->file);
    output_char(out, ',');
    if (place->line != 0)
        output_decimal(out, place->line);
    output_char(out, ',');
    put_function(out, place);
    output_char(out, ',');
    put_object(out, place);
}

static void put_address(struct output *out, const struct place *place)
{
    output_hex(out, trace_spaces_shown(place->start));
    output_char(out, ',');
    put_function(out, place);
    output_char(out, ',');
    if (place->name != NULL)
        output_decimal(out, place->offset);
    output_char(out, ',');
    put_object(out, place);
}

static void put_dimension(struct output *out, const struct report *r, const struct row *row,
                          enum report_dimension by)
{
    const struct place *place = &r->profile.places.all[row->place];
    const struct group *group = &r->profile.groups.all[row->group];

    switch (by) {
    case REPORT_BY_FUNCTION:
        put_function(out, place);
        output_char(out, ',');
        put_object(out, place);
        output_char(out, ',');
        output_hex(out, trace_spaces_shown(place->start));
        break;
    case REPORT_BY_LINE:
        put_line(out, place);
        break;
    case REPORT_BY_LIBRARY:
        put_object(out, place);
        break;
    case REPORT_BY_ADDRESS:
        put_address(out, place);
        break;
    case REPORT_BY_PROCESS:
        output_decimal(out, report_pid(r, group));
        output_char(out, ',');
        output_csv_text(out, trace_info_process_name(&r->scan.info, group->process, UINT64_MAX));
        break;
    case REPORT_BY_THREAD:
        output_decimal(out, group->tid);
        break;
    case REPORT_BY_CPU:
        output_decimal(out, group->cpu);
        break;
    case REPORT_BY_MARK:
        output_csv_text(out, r->sections.texts[group->section]);
        break;
    default:
        break;
    }
}

static void put_titles(struct output *out, const struct report *r)
{
    const struct trace_info *info = &r->scan.info;
    char column[TRACE_INFO_COLUMN_BYTES], name[128];

    for (unsigned int i = 0; i < r->options->by_count; i++) {
        output_text(out, titles[r->options->by[i]]);
        output_char(out, ',');
    }
    output_text(out, "samples,total_samples");
    for (uint32_t i = 0; i < info->event_count; i++) {
        trace_info_event_column(info, i, column);
        snprintf(name, sizeof name, "total_%s", column);
        output_csv_print(out, ",%s,%s", column, name);
    }
    for (uint32_t i = 0; i < r->metrics.count; i++)
        output_csv_print(out, ",%s", metrics_chosen(&r->metrics, i)->name);
    output_char(out, '\n');
}

/* Without call stacks totals are unknown: their columns are empty. */
static void put_counts(struct output *out, const struct report *r, const struct row *row)
{
    output_decimal(out, row->self.samples);
    output_char(out, ',');
    if (r->wanted.stacks)
        output_decimal(out, row->total.samples);
    for (uint32_t i = 0; i < r->profile.event_count; i++) {
        output_char(out, ',');
        output_decimal(out, row->self.sums[i]);
        output_char(out, ',');
        if (r->wanted.stacks)
            output_decimal(out, row->total.sums[i]);
    }
    for (uint32_t i = 0; i < r->metrics.count; i++) {
        double value = report_metric(r, i, r->options->total ? &row->total : &row->self);

        output_char(out, ',');
        if (!isnan(value))
            output_real(out, value);
    }
    output_char(out, '\n');
}

bool report_wanted_row(const struct report *r, const struct row *row)
{
    const struct profile *p = &r->profile;
    const struct rows_count *count = r->options->total ? &row->total : &row->self;

    return !report_too_small(
        r, report_share(rows_weight(count, p->event), rows_weight(&p->all, p->event)));
}

void report_write_csv(struct output *out, const struct report *r)
{
    const struct profile *p = &r->profile;
    unsigned long written = 0;

    put_titles(out, r);
    for (uint32_t i = 0; i < p->rows.count; i++) {
        if (!report_wanted_row(r, &p->rows.all[i]) ||
            (r->options->reader.limit != 0 && written++ >= r->options->reader.limit))
            continue;
        for (unsigned int n = 0; n < r->options->by_count; n++) {
            put_dimension(out, r, &p->rows.all[i], r->options->by[n]);
            output_char(out, ',');
        }
        put_counts(out, r, &p->rows.all[i]);
    }
}

struct tree_csv {
    struct output *out;
    const struct report *report;
    unsigned long written;
};

static bool put_node(void *context, const struct tree_node *node, uint32_t depth)
{
    struct tree_csv *c = context;
    const struct place *place = &c->report->profile.places.all[node->place];

    if (c->report->options->reader.limit != 0 && c->written++ >= c->report->options->reader.limit)
        return false;
    output_csv_print(c->out, "%u,%lu,%lu,", depth, node->total, node->self);
    put_function(c->out, place);
    output_char(c->out, ',');
    if (place->kind != PLACE_WORD)
        put_object(c->out, place);
    output_char(c->out, '\n');
    return true;
}

void report_write_tree_csv(struct output *out, const struct report *r, const struct tree *tree)
{
    struct tree_csv c = {out, r, 0};

    output_text(out, "depth,total,self,function,object\n");
    report_walk_tree(r, tree, put_node, NULL, &c);
}
