/* Accumulates samples by address, then by function. */
#include "host/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "include/hr_format.h"
#include "lib/trace_reader.h"

#define SLOT_BITS 17
#define SLOTS (1u << SLOT_BITS)
#define SLOT_WORDS_MAX (2 + HR_EVENTS_MAX)
#define ROW_INDEX_BITS 17 /* twice the rows: never more than half full */

int profile_init(struct profile *profile)
{
    memset(profile, 0, sizeof *profile);
    profile->slots = calloc((size_t)SLOTS * SLOT_WORDS_MAX, sizeof profile->slots[0]);
    profile->rows = calloc(PROFILE_ROWS_MAX, sizeof profile->rows[0]);
    profile->row_index = calloc(1u << ROW_INDEX_BITS, sizeof profile->row_index[0]);
    if (profile->slots == NULL || profile->rows == NULL || profile->row_index == NULL) {
        profile_free(profile);
        return -ENOMEM;
    }
    return 0;
}

void profile_free(struct profile *profile)
{
    free(profile->slots);
    free(profile->rows);
    free(profile->row_index);
    memset(profile, 0, sizeof *profile);
}

bool profile_full(const struct profile *profile)
{
    return profile->used + TRACE_RUN_SAMPLES_MAX > SLOTS / 4 * 3;
}

static uint32_t hash(uint64_t key, uint32_t bits)
{
    return (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> (64 - bits));
}

static uint64_t *find_slot(struct profile *profile, uint64_t ip, uint32_t words)
{
    uint32_t i = hash(ip, SLOT_BITS);

    for (;; i = (i + 1) & (SLOTS - 1)) {
        uint64_t *slot = profile->slots + (size_t)i * words;

        if (slot[0] == ip && slot[1] != 0)
            return slot;
        if (slot[1] == 0) {
            slot[0] = ip;
            profile->used++;
            return slot;
        }
    }
}

void profile_add(struct profile *profile, const struct trace_samples *samples)
{
    const struct trace_slot *previous = samples->previous;
    uint32_t events = samples->event_count;
    uint32_t words = 2 + events;
    bool resumed = samples->count != 0 && (samples->slots[0].flags & HR_SAMPLE_RESUMED) != 0;

    if (events != profile->event_count) { /* only before the first sample, or in a forged trace */
        if (profile->samples != 0)
            return;
        profile->event_count = events;
    }
    for (uint32_t n = 0; n < samples->count; n++) {
        const struct trace_slot *sample = &samples->slots[n];
        uint64_t *slot = find_slot(profile, sample->ip, words);

        slot[1]++;
        for (uint32_t i = 0; i < events && !resumed; i++)
            slot[2 + i] += sample->counters[i] - previous->counters[i];
        previous = sample;
    }
    profile->samples += samples->count;
}

static struct profile_row *find_row(struct profile *profile, const struct symbols_place *place)
{
    uint32_t mask = (1u << ROW_INDEX_BITS) - 1;
    uint32_t i = hash(place->start, ROW_INDEX_BITS);
    struct profile_row *row;

    for (; profile->row_index[i] != 0; i = (i + 1) & mask) {
        row = &profile->rows[profile->row_index[i] - 1];
        if (row->start == place->start && row->name == place->name)
            return row;
    }
    if (profile->row_count == PROFILE_ROWS_MAX)
        return &profile->rest;
    row = &profile->rows[profile->row_count++];
    profile->row_index[i] = profile->row_count;
    row->name = place->name;
    row->object = place->object;
    row->kernel = place->kernel;
    row->start = place->start;
    row->end = place->end;
    return row;
}

void profile_fold(struct profile *profile, struct symbols *symbols)
{
    uint32_t words = 2 + profile->event_count;

    for (uint32_t n = 0; n < SLOTS; n++) {
        const uint64_t *slot = profile->slots + (size_t)n * words;
        struct symbols_place place;
        struct profile_row *row;

        if (slot[1] == 0)
            continue;
        symbols_find(symbols, slot[0], &place);
        row = find_row(profile, &place);
        row->samples += slot[1];
        for (uint32_t i = 0; i < profile->event_count; i++) {
            row->sums[i] += slot[2 + i];
            profile->sums[i] += slot[2 + i];
        }
    }
    memset(profile->slots, 0, (size_t)SLOTS * words * sizeof profile->slots[0]);
    profile->used = 0;
}

static int compare(const void *a, const void *b, void *context)
{
    const struct profile_row *x = a, *y = b;
    int event = *(const int *)context;
    uint64_t left = event < 0 ? x->samples : x->sums[event];
    uint64_t right = event < 0 ? y->samples : y->sums[event];

    if (left != right)
        return left > right ? -1 : 1;
    if (x->samples != y->samples)
        return x->samples > y->samples ? -1 : 1;
    return x->start < y->start ? -1 : x->start > y->start;
}

void profile_sort(struct profile *profile, int event)
{
    if (profile->rest.samples != 0 && profile->row_count == PROFILE_ROWS_MAX) {
        /* the smallest row makes room for the sum of all that had none */
        qsort_r(profile->rows, profile->row_count, sizeof profile->rows[0], compare, &event);
        profile->row_count--;
        profile->rest.samples += profile->rows[profile->row_count].samples;
        for (uint32_t i = 0; i < profile->event_count; i++)
            profile->rest.sums[i] += profile->rows[profile->row_count].sums[i];
        profile->rows[profile->row_count++] = profile->rest;
        memset(&profile->rest, 0, sizeof profile->rest);
    }
    qsort_r(profile->rows, profile->row_count, sizeof profile->rows[0], compare, &event);
}
