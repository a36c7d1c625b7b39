/* Counts samples by instruction pointer, call stack and group: the fast first step of a report.
 *
 * Names come later, once per entry.  Memory is bounded by a budget: when the table is full, the
 * owner takes the entries out and clears the table.  Never prints.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "host/scan/trace_scan.h"

struct tally {
    uint64_t *entries; /* a hash table of TALLY_SUMS + event_count words each; samples 0: free */
    uint32_t event_count;
    uint32_t bits; /* log2 of the number of entries */
    uint32_t used;
    size_t budget_bytes;
};

enum { TALLY_IP, TALLY_ID, TALLY_SAMPLES, TALLY_SUMS }; /* the words of an entry */

void tally_init(struct tally *tally, size_t budget_bytes);
void tally_free(struct tally *tally);

/* Makes room for `count` samples with `event_count` events.  Returns 0; -ENOSPC: clear the table
 * first; -ENOMEM. */
int tally_reserve(struct tally *tally, uint32_t event_count, uint32_t count);

/* Counts samples first .. end - 1 of a run, for which there must be room: each with the increase of
 * the counters since the previous sample, unless sampling paused between them. */
void tally_add(struct tally *tally, const struct trace_samples *samples, uint32_t first,
               uint32_t end, uint32_t group);

/* Adds entries of other counts of as many events, in words as above, and as if they had been
 * counted by runs of at most `run` samples.  -EAGAIN: nothing was added, as there may have to be
 * more room before. */
int tally_take(struct tally *tally, uint32_t event_count, const uint64_t *entries, uint32_t count,
               uint32_t run);

/* The entry at *place or the next one, whose place it becomes; NULL after the last one. */
const uint64_t *tally_next(const struct tally *tally, uint32_t *place);
void tally_clear(struct tally *tally);

static inline uint32_t tally_node(const uint64_t *entry)
{
    return (uint32_t)(entry[TALLY_ID] >> 32);
}

static inline uint32_t tally_group(const uint64_t *entry)
{
    return (uint32_t)entry[TALLY_ID];
}
