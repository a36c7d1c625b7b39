/* Keeps samples while they are few. */
#include "host/view/data/view_samples.h"

#include <stdio.h>
#include <string.h>

#include "host/view/data/view_blocks.h"

void view_samples_init(struct view_samples *samples, uint32_t event_count, uint32_t max)
{
    memset(samples, 0, sizeof *samples);
    samples->event_count = event_count;
    samples->max = max;
}

void view_samples_free(struct view_samples *samples)
{
    for (uint32_t i = 0; i < VIEW_SAMPLES_FIELDS + HR_EVENTS_MAX; i++)
        view_column_free(&samples->columns[i]);
    samples->count = 0;
}

const struct trace_slot *view_samples_fill(struct view_sample *sample,
                                           const struct trace_samples *samples, uint32_t n,
                                           uint64_t start)
{
    const struct trace_slot *slot = &samples->slots[n], *before = trace_samples_before(samples, n);
    bool counts = (slot->flags & HR_SAMPLE_RESUMED) == 0;

    sample->time = slot->time > start ? (slot->time - start) & VIEW_TICKS_MASK : 0;
    sample->ticks = 0;
    if (counts && before->time >= start && slot->time > before->time)
        sample->ticks = slot->time - before->time < UINT32_MAX
                            ? (uint32_t)(slot->time - before->time)
                            : UINT32_MAX;
    sample->cost_ticks = slot->cost_ticks;
    sample->flags = slot->flags;
    return counts ? before : NULL;
}

int view_samples_add(struct view_samples *s, const struct view_sample *sample,
                     const struct trace_slot *slot, const struct trace_slot *previous)
{
    const uint64_t fields[VIEW_SAMPLES_FIELDS] = {sample->time, sample->ticks,      sample->group,
                                                  sample->node, sample->cost_ticks, sample->flags};
    struct view_column *increments = s->columns + VIEW_SAMPLES_FIELDS;
    int error = 0;

    if (s->overflow)
        return 0;
    if (s->count == s->max) {
        view_samples_free(s);
        s->overflow = true;
        return 0;
    }
    for (uint32_t i = 0; i < VIEW_SAMPLES_FIELDS && error == 0; i++)
        error = view_column_put(&s->columns[i], fields[i]);
    for (uint32_t i = 0; i < s->event_count && error == 0; i++)
        error = view_column_put(&increments[i],
                                previous != NULL ? slot->counters[i] - previous->counters[i] : 0);
    s->count++;
    return error;
}

void view_samples_pack(const struct view_samples *s, struct view_columns *columns)
{
    static const char *const names[VIEW_SAMPLES_FIELDS] = {"time", "ticks", "group",
                                                           "node", "cost",  "flags"};
    char name[32];

    view_columns_set(columns, "complete", json_boolean(!s->overflow));
    for (uint32_t f = 0; f < VIEW_SAMPLES_FIELDS; f++)
        view_columns_add(columns, names[f], &s->columns[f]);
    for (uint32_t e = 0; e < s->event_count; e++) {
        snprintf(name, sizeof name, "sum.%u", e);
        view_columns_add(columns, name, &s->columns[VIEW_SAMPLES_FIELDS + e]);
    }
}
