/* Gathers the facts of a run for the page. */
#include "host/view/model/view_facts.h"

#include <errno.h>

#include "host/base/json.h"
#include "host/summary/summary.h"
#include "host/timeline/timeline_traffic.h"
#include "host/view/model/view_metrics.h"
#include "include/version.h"

int view_facts_summary(const struct reader *reader, json_t **json)
{
    struct selection everything;
    struct summary summary;
    int error;

    selection_init(&everything);
    error = summary_of_part(reader->path, &everything, (unsigned int)reader->jobs, &summary);
    *json = error == 0 ? summary_json(&summary) : NULL;
    summary_free(&summary);
    return error == 0 && *json == NULL ? -ENOMEM : error;
}

static json_t *texts(const struct trace_info *info)
{
    json_t *list = json_array();

    for (size_t i = 0; i < info->text_count; i++)
        json_array_append_new(list, json_pack("[o, o]", json_text(info->texts[i].key),
                                              json_text(info->texts[i].value)));
    return list;
}

static json_t *events(const struct trace_info *info)
{
    json_t *list = json_array();
    char room[16];

    for (uint32_t i = 0; i < info->event_count; i++)
        json_array_append_new(list,
                              json_pack("{s:o, s:s, s:s}", "name",
                                        json_text(trace_info_event_name(info, i, room)), "source",
                                        trace_info_source(info->events[i].meta.source), "words",
                                        trace_info_source_words(info, i)));
    return list;
}

static json_t *event_numbers(uint32_t events)
{
    json_t *list = json_array();

    for (uint32_t i = 0; i < HR_EVENTS_MAX; i++)
        if ((events >> i & 1) != 0)
            json_array_append_new(list, json_integer(i));
    return list;
}

/* Bytes between CPUs and memory: of which events' lines they are. */
static json_t *flows(const struct trace_info *info)
{
    struct timeline_flow found[TIMELINE_FLOWS_MAX];
    uint32_t count = timeline_traffic_find(info, found);
    json_t *list = json_array();

    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:o}", "id", found[i].name, "name",
                                              found[i].label, "plus", event_numbers(found[i].plus),
                                              "minus", event_numbers(found[i].minus)));
    return list;
}

static json_t *problems(const struct symbols *symbols)
{
    json_t *list = json_array();
    const char *file, *problem;

    for (size_t i = 0; symbols != NULL && (problem = symbols_problem(symbols, i, &file)) != NULL;
         i++)
        json_array_append_new(list, json_pack("[o, o]", json_text(file), json_text(problem)));
    return list;
}

static json_t *sampling(const struct hr_meta_sampling *s)
{
    return json_pack("{s:s, s:o, s:b, s:b, s:b, s:o, s:o}", "mode", trace_info_mode(s->mode),
                     "interval_ticks", json_number(s->interval_ticks), "emulated",
                     s->flags & HR_SAMPLING_EMULATED, "inexact", s->flags & HR_SAMPLING_INEXACT,
                     "shared", s->flags & HR_SAMPLING_SHARED, "ring_slots",
                     json_number(s->ring_slots), "cpus", json_number(s->cpu_count));
}

void view_facts_add(const struct view_model *m, struct view_columns *columns)
{
    const struct trace_info *info = &m->scan.info;

    view_columns_set(columns, "version", json_string(VERSION_TEXT));
    view_columns_set(columns, "ns_per_tick", json_real(1e9 / (double)info->clock.ticks_per_second));
    view_columns_set(columns, "start_unix_ns", json_number(info->clock.start_unix_ns));
    view_columns_set(columns, "texts", texts(info));
    view_columns_set(columns, "events", events(info));
    view_columns_set(columns, "flows", flows(info));
    view_columns_set(columns, "metrics", view_metrics_json(info));
    view_columns_set(columns, "base", json_integer(m->base));
    view_columns_set(columns, "samples", json_number(m->sample_count));
    view_columns_set(columns, "last_tick", json_number(m->last));
    view_columns_set(columns, "partial", json_boolean(m->scan.partial));
    view_columns_set(columns, "objects_refused", json_number(m->blocks.refused));
    view_columns_set(columns, "problems", problems(m->symbols));
    view_columns_set(columns, "sampling", sampling(&info->sampling));
    view_columns_set(columns, "spreads", view_spread_json(&m->spread, info));
}
