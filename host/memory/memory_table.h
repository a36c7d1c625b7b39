/* Counts accesses by two numbers, of which the callers say what they are.  Bounded: what finds no
 * room is added up in one entry, both of whose numbers are 0.  Never prints. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct memory_sums { /* of records */
    uint64_t reads, writes;
    uint64_t beyond_l1; /* whose data was in a further cache, or in memory */
    uint64_t beyond_llc; /* in memory, or in another socket's cache */
    uint64_t modified; /* that another core's cache had modified */
    uint64_t timed; /* whose latency is known */
    uint64_t latency; /* of those, in ticks of the core's clock */
    uint64_t estimated; /* accesses for which the records stand: records times period */
    uint64_t cost; /* latency for which they stand: latency times period */
};

struct memory_entry {
    uint64_t first, second;
    struct memory_sums sums; /* reads and writes 0: a free place of the table */
};

struct memory_table {
    struct memory_entry *entries; /* owned */
    uint32_t bits; /* log2 of the number of places */
    uint32_t bits_max;
    uint32_t used;
    struct memory_entry rest; /* what found no room */
};

void memory_table_init(struct memory_table *table, uint32_t bits_max);
void memory_table_free(struct memory_table *table);

/* Makes room for `count` more entries, as far as the bound allows.  0 or -ENOMEM. */
int memory_table_reserve(struct memory_table *table, uint32_t count);

/* The sums of an entry, for which there was made room; the caller adds a read or a write. */
struct memory_sums *memory_table_at(struct memory_table *table, uint64_t first, uint64_t second);

void memory_table_add(struct memory_sums *to, const struct memory_sums *sums);

/* Adds all entries of another table.  0 or -ENOMEM. */
int memory_table_merge(struct memory_table *table, const struct memory_table *other);

/* An array of all entries, the rest among them if there is any, in ascending order; the caller
 * frees it.  NULL without memory. */
struct memory_entry *memory_table_sorted(const struct memory_table *table, size_t *count);

static inline uint64_t memory_sums_records(const struct memory_sums *sums)
{
    return sums->reads + sums->writes;
}

/* What accesses cost: their latency, or where none of all is known their number. */
static inline uint64_t memory_sums_cost(const struct memory_sums *all,
                                        const struct memory_sums *sums)
{
    return all->timed != 0 ? sums->cost : sums->estimated;
}

/* The share of what all accesses cost, from 0 to 1. */
static inline double memory_sums_share(const struct memory_sums *all,
                                       const struct memory_sums *sums)
{
    uint64_t cost = memory_sums_cost(all, all);

    return cost != 0 ? (double)memory_sums_cost(all, sums) / (double)cost : 0;
}

static inline double memory_sums_mean(const struct memory_sums *sums)
{
    return sums->timed != 0 ? (double)sums->latency / (double)sums->timed : 0;
}
