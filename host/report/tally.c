/* A hash table of counts that grows up to its budget. */
#include "host/report/tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "lib/hash.h"

#define FIRST_BITS 12u
#define FAR_BITS 15u /* a table of so many is not in the cache: entries are fetched ahead */
#define FAR_SAMPLES 12u /* so many samples */

void tally_init(struct tally *tally, size_t budget_bytes)
{
    *tally = (struct tally){.budget_bytes = budget_bytes};
}

void tally_free(struct tally *tally)
{
    free(tally->entries);
    *tally = (struct tally){0};
}

static uint32_t words_of(const struct tally *tally)
{
    return TALLY_SUMS + tally->event_count;
}

/* The part of the hash that depends only on stack and group. */
static uint64_t mix(uint64_t id)
{
    return id * 0xd6e8feb86659fd93ull;
}

static inline uint64_t *find(uint64_t *entries, uint32_t bits, uint32_t words, uint64_t ip,
                             uint64_t id, uint64_t mixed)
{
    uint32_t mask = (1u << bits) - 1;
    uint32_t i = hash_place(ip ^ mixed, bits);

    for (;; i = (i + 1) & mask) {
        uint64_t *entry = entries + (size_t)i * words;

        if ((entry[TALLY_IP] == ip && entry[TALLY_ID] == id) || entry[TALLY_SAMPLES] == 0)
            return entry;
    }
}

static int grow(struct tally *tally, uint32_t bits)
{
    uint64_t *larger = array_zeros(((size_t)words_of(tally) * sizeof tally->entries[0]) << bits);
    uint32_t words = words_of(tally), place = 0;
    const uint64_t *entry;

    if (larger == NULL)
        return -ENOMEM;
    for (; (entry = tally_next(tally, &place)) != NULL; place++)
        memcpy(find(larger, bits, words, entry[TALLY_IP], entry[TALLY_ID], mix(entry[TALLY_ID])),
               entry, words * sizeof *entry);
    free(tally->entries);
    tally->entries = larger;
    tally->bits = bits;
    return 0;
}

/* Growing briefly needs both tables, so the last one may take two thirds of the budget. */
int tally_reserve(struct tally *tally, uint32_t event_count, uint32_t count)
{
    uint32_t bits = tally->bits;

    if (tally->entries == NULL || (event_count != tally->event_count && tally->used == 0)) {
        tally_free(&(struct tally){.entries = tally->entries});
        *tally = (struct tally){.event_count = event_count, .budget_bytes = tally->budget_bytes};
        bits = FIRST_BITS;
    } else if (tally->used + count <= (1u << bits) / 4 * 3) {
        return 0;
    }
    while (tally->used + count > (1u << bits) / 4 * 3)
        bits++;
    if (tally->used != 0 &&
        (((size_t)words_of(tally) * sizeof(uint64_t)) << bits) > tally->budget_bytes / 3 * 2)
        return -ENOSPC;
    return grow(tally, bits);
}

static inline size_t place_of(const struct trace_samples *samples, uint32_t n, uint64_t id,
                              uint32_t bits)
{
    if (samples->stacks != NULL)
        id |= (uint64_t)samples->stacks[n] << 32;
    return hash_place(samples->slots[n].ip ^ mix(id), bits);
}

/* Inlined with a constant number of events, because this loop dominates the time of a report. */
static inline __attribute__((always_inline)) void add_samples(struct tally *tally,
                                                              const struct trace_samples *samples,
                                                              uint32_t first, uint32_t end,
                                                              uint32_t group, uint32_t events)
{
    const struct trace_slot *previous = first == 0 ? samples->previous : &samples->slots[first - 1];
    bool counts = (samples->slots[0].flags & HR_SAMPLE_RESUMED) == 0;
    uint64_t *entries = tally->entries;
    uint32_t bits = tally->bits, used = tally->used;
    uint64_t id = group, mixed = mix(id);

    for (uint32_t n = first; n < end; n++) {
        const struct trace_slot *sample = &samples->slots[n];
        uint64_t *entry;

        if (bits >= FAR_BITS && n + FAR_SAMPLES < end)
            __builtin_prefetch(entries + (TALLY_SUMS + events) *
                                             place_of(samples, n + FAR_SAMPLES, group, bits));

        if (samples->stacks != NULL) {
            id = (uint64_t)samples->stacks[n] << 32 | group;
            mixed = mix(id);
        }
        entry = find(entries, bits, TALLY_SUMS + events, sample->ip, id, mixed);
        if (entry[TALLY_SAMPLES] == 0) {
            entry[TALLY_IP] = sample->ip;
            entry[TALLY_ID] = id;
            used++;
        }
        entry[TALLY_SAMPLES] += samples->weights != NULL ? samples->weights[n] : 1;
        if (counts)
            for (uint32_t i = 0; i < events; i++)
                entry[TALLY_SUMS + i] += sample->counters[i] - previous->counters[i];
        previous = sample;
    }
    tally->used = used;
}

void tally_add(struct tally *tally, const struct trace_samples *samples, uint32_t first,
               uint32_t end, uint32_t group)
{
    if (samples->event_count != tally->event_count) /* forged: differs from what was reserved */
        return;
    switch (tally->event_count) {
    case 1:
        add_samples(tally, samples, first, end, group, 1);
        break;
    case 3:
        add_samples(tally, samples, first, end, group, 3);
        break;
    case 5:
        add_samples(tally, samples, first, end, group, 5);
        break;
    default:
        add_samples(tally, samples, first, end, group, tally->event_count);
    }
}

int tally_take(struct tally *tally, uint32_t event_count, const uint64_t *entries, uint32_t count,
               uint32_t run)
{
    uint32_t words = words_of(tally), added = 0;

    if (tally->entries == NULL || event_count != tally->event_count)
        return -EAGAIN;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t *from = entries + (size_t)i * words,
                       *far = from + (size_t)FAR_SAMPLES * words;

        if (tally->bits >= FAR_BITS && i + FAR_SAMPLES < count)
            __builtin_prefetch(
                tally->entries +
                words * (size_t)hash_place(far[TALLY_IP] ^ mix(far[TALLY_ID]), tally->bits));
        added += find(tally->entries, tally->bits, words, from[TALLY_IP], from[TALLY_ID],
                      mix(from[TALLY_ID]))[TALLY_SAMPLES] == 0;
    }
    if (tally->used + added + run > (1u << tally->bits) / 4 * 3)
        return -EAGAIN;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t *from = entries + (size_t)i * words;
        uint64_t *entry = find(tally->entries, tally->bits, words, from[TALLY_IP], from[TALLY_ID],
                               mix(from[TALLY_ID]));

        if (entry[TALLY_SAMPLES] == 0)
            memcpy(entry, from, TALLY_SAMPLES * sizeof *entry);
        for (uint32_t n = TALLY_SAMPLES; n < words; n++)
            entry[n] += from[n];
    }
    tally->used += added;
    return 0;
}

const uint64_t *tally_next(const struct tally *tally, uint32_t *place)
{
    if (tally->entries == NULL)
        return NULL;
    for (; *place < 1u << tally->bits; ++*place) {
        const uint64_t *entry = tally->entries + (size_t)*place * words_of(tally);

        if (entry[TALLY_SAMPLES] != 0)
            return entry;
    }
    return NULL;
}

void tally_clear(struct tally *tally)
{
    if (tally->entries != NULL)
        memset(tally->entries, 0, (words_of(tally) * sizeof tally->entries[0]) << tally->bits);
    tally->used = 0;
}
