/* A hash table of sums. */
#include "host/memory/accesses/memory_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "lib/hash.h"

#define FIRST_BITS 10u
#define NUMBER_MASK ((1u << MEMORY_TABLE_BITS_MAX) - 1)
#define REST 0u /* the number of the entry of what found no room */
#define STRIDE 0x9e3779b1u /* odd: it comes to every place */

void memory_table_init(struct memory_table *table, uint32_t bits_max)
{
    *table = (struct memory_table){.bits_max = bits_max};
}

void memory_table_free(struct memory_table *table)
{
    free(table->places);
    free(table->entries);
    *table = (struct memory_table){0};
}

static inline uint64_t hash_of(uint64_t first, uint64_t second)
{
    return hash_mix(hash_mix(0, first), second);
}

/* The bits of a hash that a place has above the number: not those that say where it is. */
static inline uint32_t mark_of(uint64_t hash)
{
    return (uint32_t)hash << MEMORY_TABLE_BITS_MAX;
}

static uint32_t room(const struct memory_table *table)
{
    return table->entries != NULL ? (1u << table->bits) / 4 * 3 : 0;
}

static int grow(struct memory_table *larger, const struct memory_table *table)
{
    uint32_t mask = (1u << larger->bits) - 1;

    larger->places = array_zeros(((size_t)1 << larger->bits) * sizeof larger->places[0]);
    larger->entries = array_zeros(((size_t)mask + 1) / 4 * 3 * sizeof larger->entries[0] +
                                  sizeof larger->entries[0]);
    if (larger->places == NULL || larger->entries == NULL) {
        free(larger->places);
        free(larger->entries);
        return -ENOMEM;
    }
    if (table->entries == NULL)
        return 0;
    memcpy(larger->entries, table->entries, (table->used + 1) * sizeof table->entries[0]);
    for (uint32_t i = 0; i >> table->bits == 0; i++) {
        const struct memory_entry *entry = &table->entries[table->places[i] & NUMBER_MASK];
        uint32_t at = hash_place(hash_of(entry->first, entry->second), larger->bits);

        if (table->places[i] == 0)
            continue;
        while (larger->places[at] != 0)
            at = (at + 1) & mask;
        larger->places[at] = table->places[i];
    }
    return 0;
}

int memory_table_reserve(struct memory_table *table, uint32_t count)
{
    struct memory_table larger = *table;
    int error;

    if (table->used + count <= room(table) ||
        (table->entries != NULL && table->bits == table->bits_max))
        return 0;
    if (table->entries == NULL)
        larger.bits = FIRST_BITS - 1;
    do
        larger.bits++;
    while (table->used + count > (1u << larger.bits) / 4 * 3 && larger.bits < table->bits_max);
    error = grow(&larger, table);
    if (error != 0)
        return error;
    free(table->places);
    free(table->entries);
    *table = larger;
    return 0;
}

struct memory_sums *memory_table_at(struct memory_table *table, uint64_t first, uint64_t second)
{
    uint64_t hash = hash_of(first, second);
    uint32_t mask = (1u << table->bits) - 1, i = hash_place(hash, table->bits);
    struct memory_entry *entry;

    for (; table->places[i] != 0; i = (i + 1) & mask) {
        entry = &table->entries[table->places[i] & NUMBER_MASK];
        if ((table->places[i] & ~NUMBER_MASK) == mark_of(hash) && entry->first == first &&
            entry->second == second)
            return &entry->sums;
    }
    if (table->used == room(table))
        return &table->entries[REST].sums;
    table->places[i] = mark_of(hash) | ++table->used;
    entry = &table->entries[table->used];
    entry->first = first;
    entry->second = second;
    return &entry->sums;
}

void memory_table_expect(const struct memory_table *table, uint64_t first, uint64_t second)
{
    uint64_t hash = hash_of(first, second);
    uint32_t mask = (1u << table->bits) - 1, i = hash_place(hash, table->bits);
    const struct memory_entry *entry;

    if (table->entries == NULL)
        return;
    while (table->places[i] != 0 && (table->places[i] & ~NUMBER_MASK) != mark_of(hash))
        i = (i + 1) & mask;
    entry = &table->entries[table->places[i] & NUMBER_MASK];
    __builtin_prefetch(entry, 1);
    __builtin_prefetch(&entry->sums.cost, 1);
}

const struct memory_sums *memory_table_rest(const struct memory_table *table)
{
    const struct memory_entry *rest = &table->entries[REST];

    return table->entries != NULL && memory_sums_records(&rest->sums) != 0 ? &rest->sums : NULL;
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
    if (memory_table_reserve(table, other->used) != 0)
        return -ENOMEM;
    if (other->used == 0)
        return 0;
    memory_table_add(&table->entries[REST].sums, &other->entries[REST].sums);
    for (uint32_t i = 0; i >> other->bits == 0; i++) {
        /* in the order of their places they would fill one end of the table first */
        uint32_t place = other->places[(i * STRIDE) & ((1u << other->bits) - 1)];
        const struct memory_entry *entry = &other->entries[place & NUMBER_MASK];

        if (place != 0)
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
    for (uint32_t i = memory_table_rest(table) != NULL ? REST : 1; i < table->used + 1; i++)
        all[(*count)++] = table->entries[i];
    qsort(all, *count, sizeof *all, by_numbers);
    return all;
}
