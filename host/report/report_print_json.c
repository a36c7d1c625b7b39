/* Writes a profile as one JSON object: its keys are a stable interface. */
#include <math.h>

#include "host/base/output.h"
#include "host/report/report.h"

static void put_place(struct output *out, const struct place *place, enum report_dimension by)
{
    char text[512];

    if (by == REPORT_BY_LINE)
        output_json_print(out, "\"file\":%s,\"line\":%u,", place->file, place->line);
    if (by != REPORT_BY_LIBRARY)
        output_json_print(out, "\"function\":%s,\"kernel\":%d,", place->name, place->kernel);
    if (by == REPORT_BY_FUNCTION || by == REPORT_BY_ADDRESS)
        output_json_print(out, "%s:\"%#lx\",", by == REPORT_BY_ADDRESS ? "address" : "start",
                          trace_spaces_shown(place->start));
    output_json_print(out, "\"object\":%s", report_object(text, sizeof text, place));
}

static void put_dimension(struct output *out, const struct report *r, const struct row *row,
                          enum report_dimension by)
{
    const struct group *group = &r->profile.groups.all[row->group];

    if (by == REPORT_BY_PROCESS)
        output_json_print(out, "\"pid\":%u,\"process\":%s", report_pid(r, group),
                          trace_info_process_name(&r->scan.info, group->process, UINT64_MAX));
    else if (by == REPORT_BY_THREAD)
        output_json_print(out, "\"thread\":%u", group->tid);
    else if (by == REPORT_BY_CPU)
        output_json_print(out, "\"cpu\":%u", group->cpu);
    else if (by == REPORT_BY_MARK)
        output_json_print(out, "\"mark\":%s", r->sections.texts[group->section]);
    else
        put_place(out, &r->profile.places.all[row->place], by);
}

static void put_metrics(struct output *out, const struct report *r, const struct rows_count *count)
{
    for (uint32_t i = 0; i < r->metrics.count; i++) {
        double value = report_metric(r, i, count);

        output_text(out, i == 0 ? ",\"metrics\":{" : ",");
        output_json_print(out, isnan(value) ? "%s:null" : "%s:%g",
                          metrics_chosen(&r->metrics, i)->name, value);
    }
    if (r->metrics.count != 0)
        output_char(out, '}');
}

static void put_count(struct output *out, const struct report *r, const char *key,
                      const struct rows_count *count)
{
    const struct trace_info *info = &r->scan.info;
    char room[16];

    output_json_print(out, "%s:{\"samples\":%lu,\"events\":{", key, count->samples);
    for (uint32_t i = 0; i < r->profile.event_count; i++) {
        output_text(out, i != 0 ? "," : "");
        output_json_print(out, "%s:%lu", trace_info_event_name(info, i, room), count->sums[i]);
    }
    output_char(out, '}');
    put_metrics(out, r, count);
    output_char(out, '}');
}

static void put_row(struct output *out, const struct report *r, const struct row *row)
{
    output_text(out, "\n{");
    for (unsigned int i = 0; i < r->options->by_count; i++) {
        put_dimension(out, r, row, r->options->by[i]);
        output_char(out, ',');
    }
    put_count(out, r, "self", &row->self);
    output_char(out, ',');
    if (r->wanted.stacks)
        put_count(out, r, "total", &row->total);
    else
        output_text(out, "\"total\":null");
    output_char(out, '}');
}

static void put_head(struct output *out, const struct report *r)
{
    const struct trace_info *info = &r->scan.info;
    const uint64_t *ends = r->profile.ends;
    char room[16];

    output_json_print(out, "{\"program\":%s,\"samples\":%lu,\"sort\":%s,\"sources\":{",
                      trace_info_text(info, "program.args", NULL), r->profile.all.samples,
                      r->profile.event < 0
                          ? "samples"
                          : trace_info_event_name(info, (uint32_t)r->profile.event, room));
    for (uint32_t i = 0; i < info->event_count; i++) {
        output_text(out, i != 0 ? "," : "");
        output_json_print(out, "%s:%s", trace_info_event_name(info, i, room),
                          trace_info_source(info->events[i].meta.source));
    }
    output_text(out, "},");
    if (r->wanted.stacks)
        output_json_print(
            out, "\"stacks\":{\"whole\":%lu,\"truncated\":%lu,\"broken\":%lu,\"none\":%lu},",
            ends[HR_STACK_WHOLE], ends[HR_STACK_CUT], ends[HR_STACK_BROKEN], ends[HR_STACK_NONE]);
}

void report_write_json(struct output *out, const struct report *r)
{
    const struct profile *p = &r->profile;
    unsigned long written = 0;

    put_head(out, r);
    put_count(out, r, "all", &p->all);
    output_text(out, ",\"by\":[");
    for (unsigned int i = 0; i < r->options->by_count; i++) {
        output_text(out, i != 0 ? "," : "");
        output_json(out, report_dimension_name(r->options->by[i]));
    }
    output_text(out, "],\"rows\":[");
    for (uint32_t i = 0; i < p->rows.count; i++) {
        if (!report_wanted_row(r, &p->rows.all[i]) ||
            (r->options->reader.limit != 0 && written >= r->options->reader.limit))
            continue;
        output_text(out, written++ != 0 ? "," : "");
        put_row(out, r, &p->rows.all[i]);
    }
    output_text(out, "]}\n");
}

struct tree_json {
    struct output *out;
    const struct report *report;
    bool after_sibling;
};

static bool open_node(void *context, const struct tree_node *node, uint32_t /* depth */)
{
    struct tree_json *j = context;
    const struct place *place = &j->report->profile.places.all[node->place];
    char text[512];

    output_text(j->out, j->after_sibling ? "," : "");
    output_json_print(j->out,
                      "\n{\"function\":%s,\"object\":%s,\"inlined\":%d,\"kernel\":%d,"
                      "\"total\":%lu,\"self\":%lu,\"children\":[",
                      place->name,
                      place->kind != PLACE_WORD ? report_object(text, sizeof text, place) : NULL,
                      place->inlined, place->kernel, node->total, node->self);
    j->after_sibling = false;
    return true;
}

static void close_node(void *context)
{
    struct tree_json *j = context;

    output_text(j->out, "]}");
    j->after_sibling = true;
}

void report_write_tree_json(struct output *out, const struct report *r, const struct tree *tree)
{
    struct tree_json j = {out, r, false};

    put_head(out, r);
    output_json_print(out, "\"all\":%lu,\"tree\":[",
                      rows_weight(&r->profile.all, r->profile.event));
    report_walk_tree(r, tree, open_node, close_node, &j);
    output_text(out, "]}\n");
}
