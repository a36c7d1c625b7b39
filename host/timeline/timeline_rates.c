/* Computes rates from counts. */
#include "host/timeline/timeline_rates.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/base/text.h"
#include "host/metrics/metrics_show.h"
#include "host/trace/event_kind.h"

static const struct {
    const char *name;
    const char *label; /* follows the event's name, if there is one */
} kinds[] = {
    [TIMELINE_USAGE] = {"usage", "running %"},
    [TIMELINE_IPC] = {"ipc", "IPC"},
    [TIMELINE_GHZ] = {"ghz", "cycles/ns"},
    [TIMELINE_FREQUENCY] = {"frequency_ghz", "GHz"},
    [TIMELINE_PER_US] = {"per_us", "/us"},
    [TIMELINE_PER_KI] = {"per_ki", "/ki"},
    [TIMELINE_BYTES_PER_US] = {"bytes_per_us", " B/us"},
    [TIMELINE_FLOW_PER_US] = {"bytes_per_us", " MB/s"},
    [TIMELINE_FLOW_SHARE] = {"share_of_peak", " % of peak"},
    [TIMELINE_FLOW_BYTES] = {"bytes", " bytes"},
    [TIMELINE_OF_METRIC] = {"", ""},
    [TIMELINE_COUNT] = {"count", ""},
    [TIMELINE_SAMPLE_COUNT] = {"samples", "samples"},
    [TIMELINE_LOST_COUNT] = {"lost", "lost"},
    [TIMELINE_SKIPPED_COUNT] = {"skipped", "skipped"},
};

static void add(struct timeline_rates *rates, enum timeline_metric metric, uint32_t event)
{
    rates->all[rates->count++] = (struct timeline_rate){metric, event, NULL, 0};
}

static void add_event(struct timeline_rates *rates, uint32_t event)
{
    const struct trace_info *info = rates->timeline->info;
    char room[16];

    add(rates, TIMELINE_COUNT, event);
    add(rates, TIMELINE_PER_US, event);
    if (rates->instructions >= 0 && event != (uint32_t)rates->instructions)
        add(rates, TIMELINE_PER_KI, event);
    if (event_kind_lines(trace_info_event_name(info, event, room)))
        add(rates, TIMELINE_BYTES_PER_US, event);
}

/* A register of the CPU's by this name, or -1. */
static int find_register(const struct trace_info *info, const char *name)
{
    int event = trace_info_find_event(info, name);

    return event >= 0 && info->events[event].meta.source == HR_SOURCE_MSR ? event : -1;
}

static void find_frequency(struct timeline_rates *rates)
{
    const struct trace_info *info = rates->timeline->info;

    rates->aperf = find_register(info, "aperf");
    rates->mperf = find_register(info, "mperf");
    if (rates->aperf < 0 || rates->mperf < 0)
        rates->aperf = rates->mperf = -1;
}

void timeline_rates_init(struct timeline_rates *rates, const struct timeline *t, uint32_t events,
                         uint32_t line_bytes)
{
    *rates = (struct timeline_rates){
        .timeline = t,
        .instructions = event_kind_instructions(t->info),
        .cycles = event_kind_cycles(t->info),
        .line_bytes = line_bytes,
    };
    find_frequency(rates);
    add(rates, TIMELINE_USAGE, HR_EVENTS_MAX);
    if (rates->instructions >= 0 && rates->cycles >= 0)
        add(rates, TIMELINE_IPC, HR_EVENTS_MAX);
    if (rates->cycles >= 0)
        add(rates, TIMELINE_GHZ, HR_EVENTS_MAX);
    if (rates->aperf >= 0)
        add(rates, TIMELINE_FREQUENCY, HR_EVENTS_MAX);
    for (uint32_t i = 0; i < t->event_count; i++)
        if (events >> i & 1)
            add_event(rates, i);
    add(rates, TIMELINE_SAMPLE_COUNT, HR_EVENTS_MAX);
    if (t->per == TIMELINE_PER_CPU)
        add(rates, TIMELINE_LOST_COUNT, HR_EVENTS_MAX);
    if (t->any_skipped)
        add(rates, TIMELINE_SKIPPED_COUNT, HR_EVENTS_MAX);
}

static void add_flow(struct timeline_rates *rates, const struct timeline_flow *flow)
{
    static const enum timeline_metric metrics_of_flow[] = {
        TIMELINE_FLOW_PER_US, TIMELINE_FLOW_BYTES, TIMELINE_FLOW_SHARE};
    size_t count = rates->has_peak && flow->peak != TIMELINE_PEAK_NONE ? 3 : 2;

    for (size_t i = 0; i < count; i++)
        rates->all[rates->count++] =
            (struct timeline_rate){metrics_of_flow[i], HR_EVENTS_MAX, flow, 0};
}

int timeline_rates_init_traffic(struct timeline_rates *rates, const struct timeline *t,
                                uint32_t line_bytes)
{
    timeline_rates_init(rates, t, 0, line_bytes);
    rates->count = 0;
    rates->instructions = rates->cycles = -1;
    add(rates, TIMELINE_USAGE, HR_EVENTS_MAX);
    rates->flow_count = timeline_traffic_find(t->info, rates->flows);
    rates->has_peak = machine_peak_load(t->info, &rates->peak);
    for (uint32_t i = 0; i < rates->flow_count; i++)
        add_flow(rates, &rates->flows[i]);
    return rates->flow_count != 0 ? 0 : -ENOENT;
}

void timeline_rates_init_metrics(struct timeline_rates *rates, const struct timeline *t,
                                 const struct metrics_choice *metrics)
{
    timeline_rates_init(rates, t, 0, TIMELINE_LINE_BYTES);
    rates->count = 0;
    rates->instructions = rates->cycles = -1;
    rates->metrics = metrics;
    add(rates, TIMELINE_USAGE, HR_EVENTS_MAX);
    for (uint32_t i = 0; i < metrics->count; i++)
        rates->all[rates->count++] =
            (struct timeline_rate){TIMELINE_OF_METRIC, HR_EVENTS_MAX, NULL, i};
}

/* A metric of the time that the bin lasted. */
static bool metric_value(const struct timeline_rates *rates, const struct timeline_rate *rate,
                         const uint64_t *words, double seconds, double *value)
{
    uint64_t counts[HR_EVENTS_MAX] = {0};

    memcpy(counts, words + TIMELINE_EVENTS, rates->timeline->event_count * sizeof counts[0]);
    *value = metrics_chosen_value(rates->metrics, rate->chosen, counts, seconds);
    if (!isnan(*value))
        return true;
    *value = 0;
    return false;
}

uint64_t timeline_rate_bytes(const struct timeline_rates *rates, const struct timeline_flow *flow,
                             const uint64_t *words)
{
    return timeline_traffic_lines(flow, words + TIMELINE_EVENTS) * rates->line_bytes;
}

/* above / below * factor, if there is something below */
static bool ratio(double above, double below, double factor, double *value)
{
    *value = below > 0 ? above / below * factor : 0;
    return below > 0;
}

bool timeline_rate(const struct timeline_rates *rates, const struct timeline_rate *rate,
                   const uint64_t *words, uint64_t ticks, double *value)
{
    const uint64_t *events = words + TIMELINE_EVENTS;
    double per_second = (double)rates->timeline->info->clock.ticks_per_second;
    double us = (double)ticks / per_second * 1e6;
    double run_ns = (double)words[TIMELINE_RUN_TICKS] / per_second * 1e9;
    double count = rate->event < HR_EVENTS_MAX ? (double)events[rate->event] : 0;

    switch (rate->metric) {
    case TIMELINE_USAGE:
        return ratio((double)words[TIMELINE_RUN_TICKS], (double)ticks, 1, value);
    case TIMELINE_IPC:
        return ratio((double)events[rates->instructions], (double)events[rates->cycles], 1, value);
    case TIMELINE_GHZ:
        return ratio((double)events[rates->cycles], run_ns, 1, value);
    case TIMELINE_FREQUENCY:
        return ratio((double)events[rates->aperf], (double)events[rates->mperf], per_second / 1e9,
                     value);
    case TIMELINE_PER_US:
        return ratio(count, us, 1, value);
    case TIMELINE_PER_KI:
        return ratio(count, (double)events[rates->instructions], 1000, value);
    case TIMELINE_BYTES_PER_US:
        return ratio(count, us, rates->line_bytes, value);
    case TIMELINE_FLOW_PER_US:
        return ratio((double)timeline_rate_bytes(rates, rate->flow, words), us, 1, value);
    case TIMELINE_FLOW_SHARE:
        return ratio((double)timeline_rate_bytes(rates, rate->flow, words), us,
                     1 / (rate->flow->peak == TIMELINE_PEAK_WRITE ? rates->peak.write_per_us
                                                                  : rates->peak.read_per_us),
                     value);
    case TIMELINE_FLOW_BYTES:
        *value = (double)timeline_rate_bytes(rates, rate->flow, words);
        return true;
    case TIMELINE_OF_METRIC:
        return metric_value(rates, rate, words, us / 1e6, value);
    case TIMELINE_SAMPLE_COUNT:
        *value = (double)words[TIMELINE_SAMPLES];
        return true;
    case TIMELINE_SKIPPED_COUNT:
        *value = (double)words[TIMELINE_SKIPPED];
        return true;
    case TIMELINE_LOST_COUNT:
        *value = (double)words[TIMELINE_LOST];
        return true;
    default:
        *value = count;
        return true;
    }
}

const char *timeline_rate_name(const struct timeline_rates *rates, const struct timeline_rate *rate,
                               char room[TIMELINE_NAME_BYTES])
{
    if (rate->metric == TIMELINE_OF_METRIC)
        return metrics_chosen(rates->metrics, rate->chosen)->name;
    snprintf(room, TIMELINE_NAME_BYTES, "%s%s%s", rate->flow != NULL ? rate->flow->name : "",
             rate->flow != NULL ? "_" : "", kinds[rate->metric].name);
    return room;
}

bool timeline_rate_is_marked(const struct timeline_rates *rates, const struct timeline_rate *rate)
{
    const struct trace_event *events = rates->timeline->info->events;
    bool instructions = rate->metric == TIMELINE_IPC || rate->metric == TIMELINE_PER_KI;
    bool cycles = rate->metric == TIMELINE_IPC || rate->metric == TIMELINE_GHZ;

    return (rate->event < HR_EVENTS_MAX && events[rate->event].meta.source != HR_SOURCE_PMU) ||
           (instructions && events[rates->instructions].meta.source != HR_SOURCE_PMU) ||
           (cycles && events[rates->cycles].meta.source != HR_SOURCE_PMU);
}

void timeline_rate_label(const struct timeline_rates *rates, const struct timeline_rate *rate,
                         char *room, size_t bytes)
{
    const char *mark = timeline_rate_is_marked(rates, rate) ? "*" : "";
    const char *unit = kinds[rate->metric].label;
    size_t rest = strlen(unit) + strlen(mark), kept;
    char word[64], safe[64 * 4] = "";

    if (rate->metric == TIMELINE_OF_METRIC)
        metrics_show_title(safe, metrics_chosen(rates->metrics, rate->chosen));
    else if (rate->event < HR_EVENTS_MAX)
        text_escape(safe, sizeof safe,
                    trace_info_event_word(rates->timeline->info, rate->event, word));
    else if (rate->flow != NULL)
        text_escape(safe, sizeof safe, rate->flow->label);
    kept = strlen(safe);
    if (kept + rest >= bytes) {
        kept = rest < bytes ? bytes - 1 - rest : 0;
        while (kept != 0 && (safe[kept] & 0xc0) == 0x80) /* not within a character */
            kept--;
    }
    snprintf(room, bytes, "%.*s%s%s", (int)kept, safe, unit, mark);
}
