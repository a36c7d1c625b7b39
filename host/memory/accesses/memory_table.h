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
    struct memory_sums sums;
};

#define MEMORY_TABLE_BITS_MAX 20u

/* A look-up reads a place of four bytes, which says whether the entry can be the one that is
 * sought, before it comes to the entry: far apart, these are what takes time. */
struct memory_table {
    uint32_t *places; /* an entry's number, and some bits of its hash; 0: free; owned */
    struct memory_entry *entries; /* the rest, and `used` in the order in which they came; owned */
    uint32_t bits; /* log2 of the number of places */
    uint32_t bits_max;
    uint32_t used;
};

/* bits_max: at most MEMORY_TABLE_BITS_MAX. */
void memory_table_init(struct memory_table *table, uint32_t bits_max);
void memory_table_free(struct memory_table *table);

/* Makes room for `count` more entries, as far as the bound allows.  0 or -ENOMEM. */
int memory_table_reserve(struct memory_table *table, uint32_t count);

/* The sums of an entry, for which there was made room; the caller adds a read or a write. */
struct memory_sums *memory_table_at(struct memory_table *table, uint64_t first, uint64_t second);

/* Brings an entry to the cache if there is one: for callers who can say what they look up next. */
void memory_table_expect(const struct memory_table *table, uint64_t first, uint64_t second);

/* The sums of what found no room; NULL: all did. */
const struct memory_sums *memory_table_rest(const struct memory_table *table);

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
