/* How far apart the CPUs took the samples of one grid point. */
#include "host/scan/skew.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct skew_point {
    uint64_t number; /* k + 1; 0: unused */
    uint64_t first; /* time of the earliest sample */
    uint64_t last;
    uint16_t cpu; /* that came first */
    bool several; /* another one came too */
};

int skew_init(struct skew *skew)
{
    memset(skew, 0, sizeof *skew);
    return histogram_init(&skew->spreads);
}

void skew_free(struct skew *skew)
{
    histogram_free(&skew->spreads);
    free(skew->points);
    skew->points = NULL;
}

int skew_set_grid(struct skew *skew, const struct trace_info *info)
{
    bool grid = info->has_clock && info->sampling.mode == HR_MODE_IPI;

    skew->interval = 0;
    skew->start = info->clock.start_ticks;
    if (!grid)
        return 0;
    if (skew->points == NULL)
        skew->points = calloc(SKEW_POINTS, sizeof *skew->points);
    if (skew->points == NULL)
        return -ENOMEM;
    skew->interval = info->sampling.interval_ticks;
    return 0;
}

static void close_point(struct skew *skew, struct skew_point *point)
{
    if (point->number != 0 && point->several)
        histogram_add(&skew->spreads, point->last - point->first);
    point->number = 0;
}

static void add_sample(struct skew *skew, uint16_t cpu, uint64_t time)
{
    uint64_t number = (time - skew->start) / skew->interval + 1;
    struct skew_point *point = &skew->points[number % SKEW_POINTS];

    if (point->number != number) {
        close_point(skew, point);
        *point = (struct skew_point){.number = number, .first = time, .last = time, .cpu = cpu};
        return;
    }
    if (time < point->first)
        point->first = time;
    if (time > point->last)
        point->last = time;
    point->several |= cpu != point->cpu;
}

void skew_add(struct skew *skew, const struct trace_samples *samples)
{
    const struct trace_slot *slot = samples->slots;

    if (skew->interval == 0 || samples->count == 0 ||
        slot->flags & (HR_SAMPLE_LATE | HR_SAMPLE_POLLED))
        return;
    for (const struct trace_slot *end = slot + samples->count; slot < end; slot++)
        if (slot->time >= skew->start)
            add_sample(skew, samples->chunk->cpu, slot->time);
}

void skew_finish(struct skew *skew)
{
    /* Without a grid no point was touched, and there may be none. */
    for (uint32_t i = 0; skew->interval != 0 && i < SKEW_POINTS; i++)
        close_point(skew, &skew->points[i]);
}
