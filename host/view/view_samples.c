/* Keeps samples while they are few. */
#include "host/view/view_samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void view_samples_init(struct view_samples *samples, uint32_t event_count, uint32_t max)
{
    memset(samples, 0, sizeof *samples);
    samples->event_count = event_count;
    samples->max = max;
}

void view_samples_free(struct view_samples *samples)
{
    free(samples->all);
    free(samples->increments);
    samples->all = NULL;
    samples->increments = NULL;
    samples->count = 0;
    samples->room = 0;
}

static int grow(struct view_samples *s)
{
    uint32_t room = s->room != 0 ? 2 * s->room : 4096;
    struct view_sample *all = realloc(s->all, room * sizeof *all);
    uint64_t *increments;

    if (all == NULL)
        return -ENOMEM;
    s->all = all;
    increments = realloc(s->increments, ((size_t)room * s->event_count + 1) * sizeof *increments);
    if (increments == NULL)
        return -ENOMEM;
    s->increments = increments;
    s->room = room;
    return 0;
}

int view_samples_add(struct view_samples *s, const struct view_sample *sample,
                     const struct trace_slot *slot, const struct trace_slot *previous)
{
    uint64_t *increments;

    if (s->overflow)
        return 0;
    if (s->count == s->max) {
        view_samples_free(s);
        s->overflow = true;
        return 0;
    }
    if (s->count == s->room && grow(s) != 0)
        return -ENOMEM;
    increments = s->increments + (size_t)s->count * s->event_count;
    s->all[s->count++] = *sample;
    for (uint32_t i = 0; i < s->event_count; i++)
        increments[i] = previous != NULL ? slot->counters[i] - previous->counters[i] : 0;
    return 0;
}

static uint64_t field(const struct view_sample *s, uint32_t which)
{
    const uint64_t fields[] = {s->time, s->ticks, s->group, s->node, s->cost_ticks, s->flags};

    return fields[which];
}

void view_samples_pack(const struct view_samples *s, struct view_columns *columns)
{
    static const char *const names[] = {"time", "ticks", "group", "node", "cost", "flags"};
    char name[32];

    view_columns_set(columns, "complete", json_boolean(!s->overflow));
    for (uint32_t f = 0; f < sizeof names / sizeof names[0]; f++) {
        view_columns_begin(columns);
        for (uint32_t i = 0; i < s->count; i++)
            view_columns_put(columns, field(&s->all[i], f));
        view_columns_end(columns, names[f]);
    }
    for (uint32_t e = 0; e < s->event_count; e++) {
        view_columns_begin(columns);
        for (uint32_t i = 0; i < s->count; i++)
            view_columns_put(columns, s->increments[(size_t)i * s->event_count + e]);
        snprintf(name, sizeof name, "sum.%u", e);
        view_columns_end(columns, name);
    }
}
