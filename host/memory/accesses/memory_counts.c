/* Counts accesses by thing and instruction. */
#include "host/memory/accesses/memory_counts.h"

#include "host/memory/accesses/memory_decoder.h"
#include <errno.h>
#include <stdlib.h>

#define TABLE_BITS 19u /* 2^19 places of 88 bytes: 46 MB for each worker */

struct counter {
    struct memory_table table;
    struct memory_decoder decoder;
    uint64_t records, without;
};

static int take_samples(void *context, struct memory_cursor *cursor,
                        const struct trace_samples *samples)
{
    struct counter *counter = context;
    int error = memory_table_reserve(&counter->table, samples->count);

    if (error != 0)
        return error;
    if (counter->decoder.info == NULL)
        memory_decoder_init(&counter->decoder, cursor->names->info);
    counter->records += samples->count;
    for (uint32_t n = 0; n < samples->count; n++) {
        const struct hr_access *access = &samples->accesses[n];
        struct memory_thing thing;

        if (access->address == 0) {
            counter->without++;
            continue;
        }
        thing = memory_names_find(cursor, access->address, samples->slots[n].time);
        memory_decoder_add(&counter->decoder,
                           memory_table_at(&counter->table, thing.key, samples->slots[n].ip),
                           access);
    }
    return 0;
}

static void *join(void * /*owner*/)
{
    struct counter *counter = calloc(1, sizeof *counter);

    if (counter != NULL)
        memory_table_init(&counter->table, TABLE_BITS);
    return counter;
}

/* What finds no room depends on the order: then one worker sees all. */
static int take(void *owner, void *context)
{
    struct memory_counts *counts = owner;
    const struct counter *counter = context;

    int error = memory_table_merge(&counts->table, &counter->table);

    if (memory_table_rest(&counts->table) != NULL && !counts->alone)
        return -EAGAIN;
    counts->records += counter->records;
    counts->without += counter->without;
    return error;
}

static void leave(void * /*owner*/, void *context)
{
    struct counter *counter = context;

    memory_table_free(&counter->table);
    free(counter);
}

static void restart(void *owner)
{
    struct memory_counts *counts = owner;

    memory_table_free(&counts->table);
    memory_table_init(&counts->table, TABLE_BITS);
    counts->records = counts->without = 0;
    counts->alone = true;
}

int memory_counts_make(struct memory_counts *counts, struct memory_accesses *accesses)
{
    const struct memory_team team = {.owner = counts,
                                     .join = join,
                                     .samples = take_samples,
                                     .take = take,
                                     .leave = leave,
                                     .restart = restart};

    *counts = (struct memory_counts){.accesses = accesses};
    memory_table_init(&counts->table, TABLE_BITS);
    return memory_accesses_walk(accesses, &team);
}

void memory_counts_free(struct memory_counts *counts)
{
    memory_table_free(&counts->table);
}
