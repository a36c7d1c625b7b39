/* A hash table of counts that grows up to its budget. */
#include "host/report/tally.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BITS 12u

void tally_init(struct tally *tally, size_t budget_bytes)
{
    *tally = (struct tally){.budget_bytes = budget_bytes};
}

void tally_free(struct tally *tally)
{
    free(tally->entries);
    *tally = (struct tally){0};
}

static size_t words_of(const struct tally *tally)
{
    return TALLY_SUMS + tally->event_count;
}

static uint32_t place_of(uint64_t ip, uint64_t id, uint32_t bits)
{
    return (uint32_t)(((ip ^ id * 0xd6e8feb86659fd93ull) * 0x9e3779b97f4a7c15ull) >> (64 - bits));
}

static uint64_t *find(const struct tally *tally, uint64_t ip, uint64_t id)
{
    uint32_t mask = (1u << tally->bits) - 1;
    uint32_t i = place_of(ip, id, tally->bits);

    for (;; i = (i + 1) & mask) {
        uint64_t *entry = tally->entries + i * words_of(tally);

        if ((entry[TALLY_IP] == ip && entry[TALLY_ID] == id) || entry[TALLY_SAMPLES] == 0)
            return entry;
    }
}

static int grow(struct tally *tally, uint32_t bits)
{
    struct tally larger = *tally;
    const uint64_t *entry;
    uint32_t place = 0;

    larger.bits = bits;
    larger.entries = calloc((size_t)1 << bits, words_of(tally) * sizeof tally->entries[0]);
    if (larger.entries == NULL)
        return -ENOMEM;
    for (; (entry = tally_next(tally, &place)) != NULL; place++)
        memcpy(find(&larger, entry[TALLY_IP], entry[TALLY_ID]), entry,
               words_of(tally) * sizeof *entry);
    free(tally->entries);
    *tally = larger;
    return 0;
}

/* Growing needs both tables for a moment, so the last one may take two thirds of the budget. */
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
        ((words_of(tally) * sizeof(uint64_t)) << bits) > tally->budget_bytes / 3 * 2)
        return -ENOSPC;
    return grow(tally, bits);
}

void tally_add(struct tally *tally, const struct trace_samples *samples, uint32_t first,
               uint32_t end, uint32_t group)
{
    const struct trace_slot *previous = first == 0 ? samples->previous : &samples->slots[first - 1];
    bool resumed = (samples->slots[0].flags & HR_SAMPLE_RESUMED) != 0;
    uint32_t events = samples->event_count;

    if (events != tally->event_count) /* a forged trace: not what was reserved */
        return;
    for (uint32_t n = first; n < end; n++) {
        const struct trace_slot *sample = &samples->slots[n];
        uint64_t node = samples->stacks != NULL ? samples->stacks[n] : 0;
        uint64_t id = node << 32 | group;
        uint64_t *entry = find(tally, sample->ip, id);

        if (entry[TALLY_SAMPLES]++ == 0) {
            entry[TALLY_IP] = sample->ip;
            entry[TALLY_ID] = id;
            tally->used++;
        }
        for (uint32_t i = 0; i < events && !resumed; i++)
            entry[TALLY_SUMS + i] += sample->counters[i] - previous->counters[i];
        previous = sample;
    }
}

const uint64_t *tally_next(const struct tally *tally, uint32_t *place)
{
    if (tally->entries == NULL)
        return NULL;
    for (; *place < 1u << tally->bits; ++*place) {
        const uint64_t *entry = tally->entries + *place * words_of(tally);

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
