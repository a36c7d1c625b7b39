/* Writes a profile as one JSON object: its keys are a stable interface. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/output.h"
#include "host/base/text.h"
#include "host/report/report.h"

/* Written piece by piece, because a tree may be too large for memory. */
static void put_string(struct output *out, const char *text)
{
    char safe[4096];
    json_t *string = json_string(text_escape(safe, sizeof safe, text != NULL ? text : ""));
    char *quoted = string != NULL ? json_dumps(string, JSON_ENCODE_ANY) : NULL;

    output_text(out, quoted != NULL ? quoted : "\"\"");
    free(quoted);
    json_decref(string);
}

static void put_key(struct output *out, const char *key)
{
    output_char(out, '"');
    output_text(out, key);
    output_text(out, "\":");
}

static void put_number(struct output *out, const char *key, uint64_t value)
{
    put_key(out, key);
    output_decimal(out, value);
}

static void put_text(struct output *out, const char *key, const char *text)
{
    put_key(out, key);
    if (text != NULL)
        put_string(out, text);
    else
        output_text(out, "null");
}

static void put_hex(struct output *out, const char *key, uint64_t value)
{
    put_key(out, key);
    output_char(out, '"');
    output_hex(out, value);
    output_char(out, '"');
}

static void put_place(struct output *out, const struct place *place, enum report_dimension by)
{
    char text[512];

    if (by == REPORT_BY_LINE) {
        put_text(out, "file", place->file);
        output_char(out, ',');
        put_number(out, "line", place->line);
        output_char(out, ',');
    }
    if (by != REPORT_BY_LIBRARY) {
        put_text(out, "function", place->name);
        output_text(out, place->kernel ? ",\"kernel\":true," : ",\"kernel\":false,");
    }
    if (by == REPORT_BY_FUNCTION || by == REPORT_BY_ADDRESS) {
        put_hex(out, by == REPORT_BY_ADDRESS ? "address" : "start", place->start);
        output_char(out, ',');
    }
    put_text(out, "object", report_object(text, sizeof text, place));
}

static void put_dimension(struct output *out, const struct report *r, const struct row *row,
                          enum report_dimension by)
{
    const struct group *group = &r->profile.groups.all[row->group];

    if (by == REPORT_BY_THREAD)
        put_number(out, "thread", group->tid);
    else if (by == REPORT_BY_CPU)
        put_number(out, "cpu", group->cpu);
    else if (by == REPORT_BY_MARK)
        put_text(out, "mark", r->sections.texts[group->section]);
    else
        put_place(out, &r->profile.places.all[row->place], by);
}

static void put_count(struct output *out, const struct report *r, const char *key,
                      const struct rows_count *count)
{
    const struct trace_info *info = &r->scan.info;
    char room[16];

    put_key(out, key);
    output_char(out, '{');
    put_number(out, "samples", count->samples);
    output_text(out, ",\"events\":{");
    for (uint32_t i = 0; i < r->profile.event_count; i++) {
        if (i != 0)
            output_char(out, ',');
        put_string(out, trace_info_event_name(info, i, room));
        output_char(out, ':');
        output_decimal(out, count->sums[i]);
    }
    output_text(out, "}}");
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
    char room[16];

    output_char(out, '{');
    put_text(out, "program", trace_info_text(info, "program.args", NULL));
    output_char(out, ',');
    put_number(out, "samples", r->profile.all.samples);
    output_char(out, ',');
    put_text(out, "sort",
             r->profile.event < 0 ? "samples"
                                  : trace_info_event_name(info, (uint32_t)r->profile.event, room));
    output_text(out, ",\"sources\":{");
    for (uint32_t i = 0; i < info->event_count; i++) {
        if (i != 0)
            output_char(out, ',');
        put_string(out, trace_info_event_name(info, i, room));
        output_char(out, ':');
        put_string(out, trace_info_source(info->events[i].meta.source));
    }
    output_text(out, "},");
    if (r->wanted.stacks) {
        output_text(out, "\"stacks\":{");
        put_number(out, "whole", r->profile.ends[HR_STACK_WHOLE]);
        output_char(out, ',');
        put_number(out, "truncated", r->profile.ends[HR_STACK_CUT]);
        output_char(out, ',');
        put_number(out, "broken", r->profile.ends[HR_STACK_BROKEN]);
        output_char(out, ',');
        put_number(out, "none", r->profile.ends[HR_STACK_NONE]);
        output_text(out, "},");
    }
}

void report_write_json(struct output *out, const struct report *r)
{
    const struct profile *p = &r->profile;
    unsigned long written = 0;

    put_head(out, r);
    put_count(out, r, "all", &p->all);
    output_text(out, ",\"by\":[");
    for (unsigned int i = 0; i < r->options->by_count; i++) {
        if (i != 0)
            output_char(out, ',');
        put_string(out, report_dimension_name(r->options->by[i]));
    }
    output_text(out, "],\"rows\":[");
    for (uint32_t i = 0; i < p->rows.count; i++) {
        if (!report_wanted_row(r, &p->rows.all[i]) ||
            (r->options->limit != 0 && written >= r->options->limit))
            continue;
        if (written++ != 0)
            output_char(out, ',');
        put_row(out, r, &p->rows.all[i]);
    }
    output_text(out, "]}\n");
}

struct tree_json {
    struct output *out;
    const struct report *report;
    bool after_sibling;
};

static bool open_node(void *context, const struct tree_node *node, uint32_t depth)
{
    struct tree_json *j = context;
    const struct place *place = &j->report->profile.places.all[node->place];
    char text[512];

    (void)depth;
    output_text(j->out, j->after_sibling ? ",\n{" : "\n{");
    put_text(j->out, "function", place->name);
    output_char(j->out, ',');
    put_text(j->out, "object",
             place->kind != PLACE_WORD ? report_object(text, sizeof text, place) : NULL);
    output_text(j->out, place->inlined ? ",\"inlined\":true" : ",\"inlined\":false");
    output_text(j->out, place->kernel ? ",\"kernel\":true," : ",\"kernel\":false,");
    put_number(j->out, "total", node->total);
    output_char(j->out, ',');
    put_number(j->out, "self", node->self);
    output_text(j->out, ",\"children\":[");
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
    put_number(out, "all", rows_weight(&r->profile.all, r->profile.event));
    output_text(out, ",\"tree\":[");
    report_walk_tree(r, tree, open_node, close_node, &j);
    output_text(out, "]}\n");
}
