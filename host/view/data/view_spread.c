/* Histograms of what each sample says. */
#include "host/view/data/view_spread.h"

#include <string.h>

#include "host/base/json.h"

#define STEPS 120u

int view_spread_init(struct view_spread *spread, const struct trace_info *info)
{
    uint32_t mode = info->sampling.mode;
    int error = 0;

    memset(spread, 0, sizeof *spread);
    spread->event_count = info->event_count;
    spread->start = info->clock.start_ticks;
    if (mode == HR_MODE_TIMER || mode == HR_MODE_IPI)
        spread->grid_ticks = info->sampling.interval_ticks;
    for (uint32_t i = 0; i < VIEW_EVENTS + info->event_count && error == 0; i++)
        error = histogram_init(&spread->all[i]);
    if (error != 0)
        view_spread_free(spread);
    return error;
}

void view_spread_free(struct view_spread *spread)
{
    for (uint32_t i = 0; i < VIEW_SPREADS_MAX; i++)
        histogram_free(&spread->all[i]);
}

void view_spread_add(struct view_spread *spread, const struct trace_samples *samples)
{
    const struct trace_slot *previous = samples->previous;

    if (samples->event_count != spread->event_count)
        return;
    for (uint32_t n = 0; n < samples->count; previous = &samples->slots[n++]) {
        const struct trace_slot *slot = &samples->slots[n];

        histogram_add(&spread->all[VIEW_COST], slot->cost_ticks);
        if (slot->flags & (HR_SAMPLE_RESUMED | HR_SAMPLE_POLLED))
            continue;
        if (spread->grid_ticks != 0 && slot->time >= spread->start)
            histogram_add(&spread->all[VIEW_LATENESS],
                          (slot->time - spread->start) % spread->grid_ticks);
        if (previous->time <= spread->start)
            continue; /* the first one has nothing before it */
        histogram_add(&spread->all[VIEW_INTERVAL], slot->time - previous->time);
        for (uint32_t i = 0; i < spread->event_count; i++)
            histogram_add(&spread->all[VIEW_EVENTS + i], slot->counters[i] - previous->counters[i]);
    }
}

/* The counts of STEPS equal steps from `low` on; the last one holds what is larger, too. */
static json_t *steps(const struct histogram *h, uint64_t low, uint64_t step)
{
    uint64_t counts[STEPS + 2] = {0}; /* below, the steps, above */
    uint32_t last = histogram_bucket(h->largest);
    json_t *array = json_array();

    for (uint32_t i = 0; i <= last; i++) {
        uint64_t value, at;

        if (h->buckets[i] == 0) /* most are */
            continue;
        value = histogram_bucket_value(i);
        at = value < low ? 0 : (value - low) / step + 1;
        counts[at > STEPS ? STEPS + 1 : at] += h->buckets[i];
    }
    for (uint32_t i = 0; i < STEPS + 2; i++)
        json_array_append_new(array, json_number(counts[i]));
    return array;
}

static json_t *one(const struct histogram *h, const char *what, double scale)
{
    static const double shares[] = {0.01, 0.5, 0.9, 0.99, 0.999, 1};
    uint64_t low = histogram_percentile(h, 0.001), high = histogram_percentile(h, 0.999);
    uint64_t step = (high - low) / STEPS + 1;
    json_t *percentiles = json_array();

    for (uint32_t i = 0; i < sizeof shares / sizeof shares[0]; i++)
        json_array_append_new(
            percentiles,
            json_real((double)(shares[i] < 1 ? histogram_percentile(h, shares[i]) : h->largest) *
                      scale));
    return json_pack("{s:s, s:o, s:o, s:f, s:f, s:o}", "what", what, "count", json_number(h->count),
                     "percentiles", percentiles, "low", (double)low * scale, "step",
                     (double)step * scale, "counts", steps(h, low, step));
}

json_t *view_spread_json(const struct view_spread *spread, const struct trace_info *info)
{
    static const char *const names[] = {"interval", "cost", "lateness"};
    double ns = 1e9 / (double)info->clock.ticks_per_second;
    json_t *list = json_array();
    char name[32];

    for (uint32_t i = 0; i < VIEW_EVENTS + spread->event_count; i++) {
        if (i < VIEW_EVENTS)
            snprintf(name, sizeof name, "%s", names[i]);
        else
            snprintf(name, sizeof name, "event.%u", i - VIEW_EVENTS);
        if (spread->all[i].count != 0)
            json_array_append_new(list, one(&spread->all[i], name, i < VIEW_EVENTS ? ns : 1));
    }
    return list;
}
