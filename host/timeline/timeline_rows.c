/* Writes bins as csv or JSON: a stable interface, described in the manual page. */
#include "host/timeline/timeline_print.h"

static const char *const keys[] = {"cpu", "tid", "pid"}; /* by enum timeline_per */

struct row {
    const struct timeline_rates *rates;
    const struct timeline_group *group;
    const struct timeline_rate *rate;
    uint64_t bin;
    double value;
    bool first;
};

/* Calls `put` for every rate of every bin of every group. */
static void each(struct output *out, const struct timeline_rates *rates,
                 void (*put)(struct output *out, const struct row *row))
{
    const struct timeline *t = rates->timeline;
    struct row row = {.rates = rates, .first = true};

    for (row.bin = 0; row.bin < t->bins && out->error == 0; row.bin++) {
        uint64_t ticks = timeline_bin_ticks(t, row.bin + 1) - timeline_bin_ticks(t, row.bin);

        for (uint32_t i = 0; i < t->group_count * rates->count; i++) {
            row.group = &t->groups[i / rates->count];
            row.rate = &rates->all[i % rates->count];
            if (!timeline_rate(rates, row.rate, timeline_bin(t, row.group, row.bin), ticks,
                               &row.value))
                continue;
            put(out, &row);
            row.first = false;
        }
    }
}

static void put_key(struct output *out, const struct timeline *t,
                    const struct timeline_group *group)
{
    if (group->key == TIMELINE_REST)
        output_text(out, "-1");
    else if (t->per == TIMELINE_PER_PROCESS)
        output_decimal(out, timeline_pid(t, group->key));
    else
        output_decimal(out, group->key);
}

/* Counts are whole numbers, also those that a double does not hold. */
static void put_value(struct output *out, const struct row *row)
{
    const uint64_t *words = timeline_bin(row->rates->timeline, row->group, row->bin);

    if (row->rate->metric == TIMELINE_COUNT)
        output_decimal(out, words[TIMELINE_EVENTS + row->rate->event]);
    else if (row->rate->metric == TIMELINE_FLOW_BYTES)
        output_decimal(out, timeline_rate_bytes(row->rates, row->rate->flow, words));
    else
        output_real(out, row->value);
}

static const char *source_of(const struct row *row)
{
    const struct trace_event *events = row->rates->timeline->info->events;
    enum timeline_metric metric = row->rate->metric;

    if (row->rate->event < HR_EVENTS_MAX)
        return trace_info_source(events[row->rate->event].meta.source);
    if (metric == TIMELINE_IPC || metric == TIMELINE_GHZ)
        return trace_info_source(events[row->rates->cycles].meta.source);
    if (row->rate->flow != NULL)
        return trace_info_source(events[__builtin_ctz(row->rate->flow->plus)].meta.source);
    if (metric == TIMELINE_OF_METRIC)
        return trace_info_source(HR_SOURCE_PMU);
    if (metric == TIMELINE_FREQUENCY)
        return trace_info_source(events[row->rates->aperf].meta.source);
    return "";
}

static void put_csv(struct output *out, const struct row *row)
{
    const struct timeline *t = row->rates->timeline;
    char room[16], name[TIMELINE_NAME_BYTES];

    output_csv_print(out, "%lu,%lu,", timeline_bin_start_ns(t, row->bin),
                     timeline_bin_start_ns(t, row->bin + 1));
    put_key(out, t, row->group);
    output_csv_print(out, ",%s,%s,%s,", timeline_rate_name(row->rates, row->rate, name),
                     row->rate->event < HR_EVENTS_MAX
                         ? trace_info_event_name(t->info, row->rate->event, room)
                         : NULL,
                     source_of(row));
    put_value(out, row);
    output_char(out, '\n');
}

void timeline_rows_csv(struct output *out, const struct timeline_rates *rates)
{
    output_csv_print(out, "from_ns,to_ns,%s,metric,event,source,value\n",
                     keys[rates->timeline->per]);
    each(out, rates, put_csv);
}

static void put_json(struct output *out, const struct row *row)
{
    const struct timeline *t = row->rates->timeline;
    char room[16], name[TIMELINE_NAME_BYTES];

    output_text(out, row->first ? "" : ",");
    output_json_print(out,
                      "\n{\"from_ns\":%lu,\"to_ns\":%lu,%s:", timeline_bin_start_ns(t, row->bin),
                      timeline_bin_start_ns(t, row->bin + 1), keys[t->per]);
    put_key(out, t, row->group);
    output_json_print(out, ",\"metric\":%s", timeline_rate_name(row->rates, row->rate, name));
    if (row->rate->event < HR_EVENTS_MAX)
        output_json_print(out, ",\"event\":%s",
                          trace_info_event_name(t->info, row->rate->event, room));
    if (source_of(row)[0] != 0)
        output_json_print(out, ",\"source\":%s", source_of(row));
    output_text(out, ",\"value\":");
    put_value(out, row);
    output_char(out, '}');
}

static void put_unplaced(struct output *out, const struct timeline *t)
{
    bool first = true;
    char room[16];

    for (uint32_t i = 0; i < t->event_count; i++) {
        if (t->unplaced[i] == 0)
            continue;
        output_text(out, first ? "" : ",");
        first = false;
        output_json_print(out, "%s:%lu", trace_info_event_name(t->info, i, room), t->unplaced[i]);
    }
}

/* What each flow's bytes are, divided by line_bytes. */
static void put_formulas(struct output *out, const struct timeline_rates *rates)
{
    char text[TIMELINE_FLOW_TEXT_BYTES];

    if (rates->has_peak)
        output_json_print(out, "\"peak_bytes_per_us\":{\"read\":%lu,\"write\":%lu},",
                          (uint64_t)rates->peak.read_per_us, (uint64_t)rates->peak.write_per_us);
    if (rates->flow_count == 0)
        return;
    output_text(out, "\"lines\":{");
    for (uint32_t i = 0; i < rates->flow_count; i++)
        output_json_print(out, i != 0 ? ",%s:%s" : "%s:%s", rates->flows[i].name,
                          timeline_traffic_text(rates->timeline->info, &rates->flows[i], text));
    output_text(out, "},");
}

void timeline_rows_json(struct output *out, const struct timeline_rates *rates)
{
    const struct timeline *t = rates->timeline;

    output_json_print(out,
                      "{\"bin_ns\":%lu,\"from_ns\":%lu,\"to_ns\":%lu,\"bins\":%lu,"
                      "\"line_bytes\":%u,\"after_last_samples\":{",
                      t->bin_ns, timeline_bin_start_ns(t, 0), timeline_bin_start_ns(t, t->bins),
                      t->bins, rates->line_bytes);
    put_unplaced(out, t);
    output_text(out, "},");
    put_formulas(out, rates);
    output_text(out, "\"rows\":[");
    each(out, rates, put_json);
    output_text(out, "\n]}\n");
}
