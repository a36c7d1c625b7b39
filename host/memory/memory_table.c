/* A hash table of sums. */
#include "host/memory/memory_table.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/hash.h"

#define FIRST_BITS 10u
#define STRIDE 0x9e3779b1u /* odd: it comes to every place */

void memory_table_init(struct memory_table *table, uint32_t bits_max)
{
    *table = (struct memory_table){.bits_max = bits_max};
}

void memory_table_free(struct memory_table *table)
{
    free(table->entries);
    *table = (struct memory_table){0};
}

static inline struct memory_entry *find(struct memory_entry *entries, uint32_t bits, uint64_t first,
                                        uint64_t second)
{
    uint32_t mask = (1u << bits) - 1;
    uint32_t i = hash_place(hash_mix(hash_mix(0, first), second), bits);

    for (;; i = (i + 1) & mask) {
        struct memory_entry *entry = &entries[i];

        if ((entry->first == first && entry->second == second) ||
            memory_sums_records(&entry->sums) == 0)
            return entry;
    }
}

static uint32_t room(const struct memory_table *table)
{
    return table->entries != NULL ? (1u << table->bits) / 4 * 3 : 0;
}

int memory_table_reserve(struct memory_table *table, uint32_t count)
{
    struct memory_table larger = *table;

    if (table->used + count <= room(table) ||
        (table->entries != NULL && table->bits == table->bits_max))
        return 0;
    if (table->entries == NULL)
        larger.bits = FIRST_BITS - 1;
    do
        larger.bits++;
    while (table->used + count > (1u << larger.bits) / 4 * 3 && larger.bits < table->bits_max);
    larger.entries = calloc((size_t)1 << larger.bits, sizeof larger.entries[0]);
    if (larger.entries == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; table->entries != NULL && i >> table->bits == 0; i++) {
        const struct memory_entry *entry = &table->entries[i];

        if (memory_sums_records(&entry->sums) != 0)
            *find(larger.entries, larger.bits, entry->first, entry->second) = *entry;
    }
    free(table->entries);
    *table = larger;
    return 0;
}

struct memory_sums *memory_table_at(struct memory_table *table, uint64_t first, uint64_t second)
{
    struct memory_entry *entry = find(table->entries, table->bits, first, second);

    if (memory_sums_records(&entry->sums) != 0)
        return &entry->sums;
    if (table->used == room(table))
        return &table->rest.sums;
    table->used++;
    entry->first = first;
    entry->second = second;
    return &entry->sums;
}

void memory_table_add(struct memory_sums *to, const struct memory_sums *sums)
{
    to->reads += sums->reads;
    to->writes += sums->writes;
    to->beyond_l1 += sums->beyond_l1;
    to->beyond_llc += sums->beyond_llc;
    to->modified += sums->modified;
    to->timed += sums->timed;
    to->latency += sums->latency;
    to->estimated += sums->estimated;
    to->cost += sums->cost;
}

int memory_table_merge(struct memory_table *table, const struct memory_table *other)
{
    memory_table_add(&table->rest.sums, &other->rest.sums);
    if (memory_table_reserve(table, other->used) != 0)
        return -ENOMEM;
    for (uint32_t i = 0; other->entries != NULL && i >> other->bits == 0; i++) {
        /* in the order of their places they would fill one end of the table first */
        const struct memory_entry *entry =
            &other->entries[(i * STRIDE) & ((1u << other->bits) - 1)];

        if (memory_sums_records(&entry->sums) != 0)
            memory_table_add(memory_table_at(table, entry->first, entry->second), &entry->sums);
    }
    return 0;
}

static int by_numbers(const void *a, const void *b)
{
    const struct memory_entry *x = a, *y = b;

    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->second < y->second ? -1 : x->second > y->second;
}

struct memory_entry *memory_table_sorted(const struct memory_table *table, size_t *count)
{
    struct memory_entry *all = malloc((table->used + 1) * sizeof *all);

    *count = 0;
    if (all == NULL)
        return NULL;
    for (uint32_t i = 0; table->entries != NULL && i >> table->bits == 0; i++)
        if (memory_sums_records(&table->entries[i].sums) != 0)
            all[(*count)++] = table->entries[i];
    if (memory_sums_records(&table->rest.sums) != 0)
        all[(*count)++] = table->rest;
    qsort(all, *count, sizeof *all, by_numbers);
    return all;
}
