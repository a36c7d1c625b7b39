/* The second walk over accesses for shared lines: what threads do in those that were found. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/memory/accesses/memory_decoder.h"
#include "host/memory/lines/memory_lines.h"

#define TABLE_BITS 18u
#define INDEX_BITS 12u /* more than twice as many places as lines */

struct seen { /* of a line */
    uint64_t id;
    uint64_t offsets; /* bit n: what is there is known */
    uint32_t skipped; /* records since one told the turns */
};

struct worker {
    struct memory_lines_look found;
    struct seen *seen; /* of each of its lines; owned */
    uint16_t index[1u << INDEX_BITS]; /* number + 1; 0: free */
    struct memory_decoder decoder;
};

struct used { /* an access to a known line */
    uint32_t number; /* of the sample in its run */
    uint32_t line; /* its number + 1 */
    uint32_t offset;
};

static uint32_t number_of(const struct worker *w, uint64_t id)
{
    uint32_t i = hash_place(id, INDEX_BITS);

    while (w->index[i] != 0 && w->seen[w->index[i] - 1].id != id)
        i = (i + 1) % (1u << INDEX_BITS);
    return i;
}

static int begin(struct memory_lines_look *look, const struct memory_lines_known *known,
                 uint32_t count)
{
    *look = (struct memory_lines_look){.known = calloc(count, sizeof known[0]), .count = count};
    memory_table_init(&look->table, TABLE_BITS);
    if (look->known == NULL)
        return -ENOMEM;
    memcpy(look->known, known, count * sizeof known[0]);
    return 0;
}

void memory_lines_look_free(struct memory_lines_look *look)
{
    free(look->known);
    free(look->records);
    memory_table_free(&look->table);
}

/* Fills used[] with the accesses of a batch that are to known lines.  Returns how many. */
static uint32_t choose(const struct worker *w, struct memory_cursor *cursor,
                       const struct trace_samples *samples, uint32_t first, struct used *used)
{
    uint32_t count = 0, end = samples->count - first < MEMORY_LINES_BATCH
                                  ? samples->count
                                  : first + MEMORY_LINES_BATCH;

    for (uint32_t n = first; n < end; n++) {
        uint64_t address = samples->accesses[n].address;
        uint64_t id = memory_lines_id(cursor, address, samples->slots[n].time);

        used[count] = (struct used){n, w->index[number_of(w, id)], address % MEMORY_LINE_BYTES};
        count += address != 0 && used[count].line != 0;
    }
    return count;
}

/* What uses are counted by. */
static uint64_t place_of(const struct memory_cursor *cursor, const struct used *used)
{
    return (uint64_t)used->line << MEMORY_LINES_SHIFT |
           (uint64_t)used->offset << MEMORY_LINES_OFFSET_SHIFT | cursor->tid;
}

static int add_record(struct memory_lines_look *look, const struct memory_lines_record *record)
{
    if (array_grow(&look->records, look->record_count, sizeof look->records[0]) != 0)
        return -ENOMEM;
    look->records[look->record_count++] = *record;
    return 0;
}

static int add(struct worker *w, struct memory_cursor *cursor, const struct trace_slot *slot,
               const struct hr_access *access, const struct used *used)
{
    struct memory_lines_known *line = &w->found.known[used->line - 1];
    struct seen *seen = &w->seen[used->line - 1];
    struct access_source source;

    if ((seen->offsets >> used->offset & 1) == 0)
        line->things[used->offset] = memory_names_find(cursor, access->address, slot->time);
    seen->offsets |= 1ull << used->offset;
    if (memory_table_reserve(&w->found.table, 1) != 0)
        return -ENOMEM;
    source = memory_decoder_add(
        &w->decoder, memory_table_at(&w->found.table, place_of(cursor, used), slot->ip), access);
    if (seen->skipped != 0) {
        seen->skipped--;
        return 0;
    }
    seen->skipped = line->stride - 1;
    if (w->found.record_count >= MEMORY_LINES_RECORDS_MAX * 2ul)
        return 0;
    return add_record(&w->found, &(struct memory_lines_record){slot->time, used->line - 1,
                                                               cursor->tid, source.store});
}

static int take_samples(void *context, struct memory_cursor *cursor,
                        const struct trace_samples *samples)
{
    struct worker *w = context;
    struct used used[MEMORY_LINES_BATCH];
    int error = 0;

    if (w->decoder.info == NULL)
        memory_decoder_init(&w->decoder, cursor->names->info);
    for (uint32_t first = 0; first < samples->count && error == 0; first += MEMORY_LINES_BATCH) {
        uint32_t count = choose(w, cursor, samples, first, used);

        for (uint32_t i = 0; i < count; i++)
            memory_table_expect(&w->found.table, place_of(cursor, &used[i]),
                                samples->slots[used[i].number].ip);
        for (uint32_t i = 0; i < count && error == 0; i++)
            error = add(w, cursor, &samples->slots[used[i].number],
                        &samples->accesses[used[i].number], &used[i]);
    }
    return error;
}

static void leave(void * /*owner*/, void *context)
{
    struct worker *w = context;

    memory_lines_look_free(&w->found);
    free(w->seen);
    free(w);
}

static void *join(void *owner)
{
    const struct memory_lines_look *all = owner;
    struct worker *w = calloc(1, sizeof *w);

    if (w == NULL)
        return NULL;
    w->seen = calloc(all->count, sizeof w->seen[0]);
    if (begin(&w->found, all->known, all->count) != 0 || w->seen == NULL) {
        leave(owner, w);
        return NULL;
    }
    for (uint32_t i = 0; i < all->count; i++) {
        w->seen[i].id = all->known[i].id;
        w->index[number_of(w, all->known[i].id)] = (uint16_t)(i + 1);
    }
    return w;
}

static int take(void *owner, void *context)
{
    struct memory_lines_look *all = owner;
    const struct memory_lines_look *found = &((const struct worker *)context)->found;
    int error = memory_table_merge(&all->table, &found->table);

    for (uint32_t i = 0; i < found->count; i++)
        for (uint32_t n = 0; n < MEMORY_LINE_BYTES; n++)
            if (all->known[i].things[n].key == 0)
                all->known[i].things[n] = found->known[i].things[n];
    for (size_t i = 0; i < found->record_count && error == 0; i++)
        error = add_record(all, &found->records[i]);
    return error;
}

static void restart(void *owner)
{
    struct memory_lines_look *all = owner;

    memory_table_free(&all->table);
    memory_table_init(&all->table, TABLE_BITS);
    all->record_count = 0;
}

int memory_lines_look(struct memory_lines_look *look, struct memory_accesses *accesses,
                      const struct memory_lines_known *known, uint32_t count)
{
    const struct memory_team team = {.owner = look,
                                     .join = join,
                                     .samples = take_samples,
                                     .take = take,
                                     .leave = leave,
                                     .restart = restart};
    int error = begin(look, known, count);

    return error == 0 ? memory_accesses_walk(accesses, &team) : error;
}
