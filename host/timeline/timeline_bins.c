/* Splits time into bins and counts into them. */
#include "host/timeline/timeline_bins.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_LEAST 8u
#define BINS_LEAST 1000u /* however many CPUs a trace claims */
#define INDEX_BITS 13 /* twice the groups: never more than half full */
/* A number of two digits that people like, and zeros; not below `ns`. */
static uint64_t round_up(uint64_t ns)
{
    static const uint64_t steps[] = {10, 12, 15, 20, 25, 30, 40, 50, 60, 80};

    for (uint64_t unit = 1; ns > 10 && unit <= UINT64_MAX / 1000; unit *= 10)
        for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
            if (steps[i] * unit >= ns)
                return steps[i] * unit;
    return ns;
}

static uint64_t ticks_at(const struct trace_info *info, uint64_t ns)
{
    unsigned __int128 ticks =
        ((unsigned __int128)ns * info->clock.ticks_per_second + 999999999u) / 1000000000u;

    return ticks > UINT64_MAX - info->clock.start_ticks ? UINT64_MAX
                                                        : info->clock.start_ticks + (uint64_t)ticks;
}

uint64_t timeline_bin_start_ns(const struct timeline *t, uint64_t bin)
{
    uint64_t end = trace_info_time_ns(t->info, t->end);
    uint64_t from = t->selection->from_ns;

    return bin < t->bins ? from + bin * t->bin_ns : end > from ? end : from;
}

uint64_t timeline_bin_ticks(const struct timeline *t, uint64_t bin)
{
    return bin < t->bins ? ticks_at(t->info, timeline_bin_start_ns(t, bin)) : t->end;
}

static uint64_t span_ns(const struct timeline *t)
{
    uint64_t end = trace_info_time_ns(t->info, t->end), from = t->selection->from_ns;

    return end > from ? end - from : 1;
}

/* So that every CPU has room, and one group of others; of threads the number is not known. */
static uint64_t bins_max(const struct timeline *t)
{
    uint64_t cpus = t->info->sampling.cpu_count != 0 ? t->info->sampling.cpu_count : 1;
    uint64_t bins =
        TIMELINE_CELLS_MAX / t->words / (t->per != TIMELINE_PER_CPU ? THREADS_LEAST : cpus + 1);

    return bins > BINS_LEAST ? bins : BINS_LEAST;
}

uint64_t timeline_bin_least(const struct timeline *t)
{
    return round_up(span_ns(t) / bins_max(t) + 1);
}

int timeline_init(struct timeline *t, const struct trace_scan *scan, enum timeline_per per,
                  uint64_t last, uint64_t bin_ns, uint64_t bins_wanted)
{
    uint64_t span, to;

    memset(t, 0, sizeof *t);
    t->info = &scan->info;
    t->selection = &scan->selection;
    t->per = per;
    t->last = last;
    t->event_count = scan->info.event_count;
    t->words = TIMELINE_EVENTS + t->event_count;
    t->begin = ticks_at(t->info, t->selection->from_ns);
    to = ticks_at(t->info, t->selection->to_ns);
    t->end = to < last ? to : last;
    if (t->end <= t->begin)
        t->end = t->begin == UINT64_MAX ? t->begin : t->begin + 1;
    span = span_ns(t);
    t->bin_ns = bin_ns != 0 ? bin_ns : round_up(span / bins_wanted + (span % bins_wanted != 0));
    t->bins = span / t->bin_ns + (span % t->bin_ns != 0);
    if (t->bins > bins_max(t))
        return -E2BIG;
    t->groups = calloc(TIMELINE_GROUPS_MAX + 1, sizeof t->groups[0]);
    t->index = calloc(1u << INDEX_BITS, sizeof t->index[0]);
    if (t->groups == NULL || t->index == NULL || timeline_count_init(t) != 0) {
        timeline_free(t);
        return -ENOMEM;
    }
    return 0;
}

void timeline_free(struct timeline *t)
{
    for (uint32_t i = 0; t->groups != NULL && i < t->group_count; i++)
        free(t->groups[i].words);
    free(t->groups);
    free(t->index);
    free(t->cpus);
    memset(t, 0, sizeof *t);
}

struct timeline_group *timeline_group(struct timeline *t, uint32_t key)
{
    uint64_t cells = t->bins * t->words;
    uint32_t mask = (1u << INDEX_BITS) - 1;
    uint32_t i = (key * 0x9e3779b9u) >> (32 - INDEX_BITS);
    struct timeline_group *group;

    for (; t->index[i] != 0; i = (i + 1) & mask)
        if (t->groups[t->index[i] - 1].key == key)
            return &t->groups[t->index[i] - 1];
    if (key != TIMELINE_REST &&
        (t->group_count + 1 >= TIMELINE_GROUPS_MAX || t->cells + 2 * cells > TIMELINE_CELLS_MAX))
        return timeline_group(t, TIMELINE_REST);
    group = &t->groups[t->group_count];
    group->words = calloc(cells, sizeof group->words[0]);
    if (group->words == NULL)
        return NULL;
    group->key = key;
    t->cells += cells;
    t->index[i] = ++t->group_count;
    return group;
}

uint64_t timeline_bin_of(const struct timeline *t, uint64_t time)
{
    uint64_t ns = trace_info_time_ns(t->info, time), from = t->selection->from_ns;
    uint64_t bin = ns > from ? (ns - from) / t->bin_ns : 0;

    return bin < t->bins ? bin : t->bins - 1;
}

void timeline_spread(struct timeline *t, struct timeline_group *group, uint32_t word,
                     struct timeline_stretch time, uint64_t amount)
{
    uint64_t whole = time.to - time.from;
    uint64_t done = time.from < t->begin ? t->begin - time.from : 0; /* ticks of it */
    uint64_t bin = timeline_bin_of(t, time.from), stop = whole;

    if (t->selection->to_ns != UINT64_MAX && time.to > t->end)
        stop = t->end > time.from ? t->end - time.from : 0;
    while (done < stop) {
        uint64_t edge = bin + 1 < t->bins ? timeline_bin_ticks(t, bin + 1) : UINT64_MAX;
        uint64_t next = edge - time.from < stop ? edge - time.from : stop;

        group->words[bin * t->words + word] +=
            timeline_part(amount, next, whole) - timeline_part(amount, done, whole);
        done = next;
        bin++;
    }
}

void timeline_put(struct timeline *t, struct timeline_group *group, uint32_t word, uint64_t time,
                  uint64_t amount)
{
    group->words[timeline_bin_of(t, time) * t->words + word] += amount;
}
