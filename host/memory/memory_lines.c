/* Looks at what threads do in the cache lines that they share. */
#include "host/memory/memory_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/memory/memory_decoder.h"
#include "host/memory/memory_profile.h"
#include "lib/hash.h"

#define TABLE_BITS 18u
#define INDEX_BITS 12u /* more than twice as many places as lines */
#define RECORDS_MAX (1u << 20) /* that tell the turns, of all lines: 24 MB */
#define LINE_SHIFT 38 /* of an entry's first number: that of the line + 1, offset, thread */
#define OFFSET_SHIFT 32
#define TURNS_LEAST 3u /* one thread after the other is no sharing */

struct record {
    uint64_t time;
    uint32_t line;
    uint32_t tid;
    bool written;
};

struct seen { /* of a line by a worker */
    uint64_t id;
    uint64_t offsets; /* bit n: what is there is known */
    uint32_t skipped; /* records since one told the turns */
};

struct look { /* a worker's, or all that they found */
    struct memory_lines_known *known;
    struct seen *seen; /* of each of them; owned */
    uint16_t index[1u << INDEX_BITS]; /* number + 1; 0: free */
    struct memory_decoder decoder;
    struct memory_table table;
    struct record *records; /* owned */
    size_t record_count;
    uint32_t count;
};

struct used { /* an access to a known line */
    uint32_t number; /* of the sample in its run */
    uint32_t line; /* its number + 1 */
    uint32_t offset;
};

static uint32_t number_of(const struct look *l, uint64_t id)
{
    uint32_t i = hash_place(id, INDEX_BITS);

    while (l->index[i] != 0 && l->seen[l->index[i] - 1].id != id)
        i = (i + 1) % (1u << INDEX_BITS);
    return i;
}

static int init(struct look *l, const struct memory_lines_known *known, uint32_t count)
{
    l->known = calloc(count, sizeof l->known[0]);
    l->seen = calloc(count, sizeof l->seen[0]);
    if (l->known == NULL || l->seen == NULL)
        return -ENOMEM;
    memcpy(l->known, known, count * sizeof known[0]);
    l->count = count;
    memory_table_init(&l->table, TABLE_BITS);
    for (uint32_t i = 0; i < count; i++) {
        l->seen[i].id = known[i].id;
        l->index[number_of(l, known[i].id)] = (uint16_t)(i + 1);
    }
    return 0;
}

static void drop(struct look *l)
{
    free(l->known);
    free(l->seen);
    free(l->records);
    memory_table_free(&l->table);
}

/* Fills used[] with the accesses of a batch that are to known lines.  Returns how many. */
static uint32_t choose(const struct look *l, struct memory_cursor *cursor,
                       const struct trace_samples *samples, uint32_t first, struct used *used)
{
    uint32_t count = 0, end = samples->count - first < MEMORY_LINES_BATCH
                                  ? samples->count
                                  : first + MEMORY_LINES_BATCH;

    for (uint32_t n = first; n < end; n++) {
        uint64_t address = samples->accesses[n].address;
        uint64_t id = memory_lines_id(cursor, address, samples->slots[n].time);

        used[count] = (struct used){n, l->index[number_of(l, id)], address % MEMORY_LINE_BYTES};
        count += address != 0 && used[count].line != 0;
    }
    return count;
}

/* What uses are counted by. */
static uint64_t place_of(const struct memory_cursor *cursor, const struct used *used)
{
    return (uint64_t)used->line << LINE_SHIFT | (uint64_t)used->offset << OFFSET_SHIFT |
           cursor->tid;
}

static int add_record(struct look *l, const struct record *record)
{
    if (l->record_count >= RECORDS_MAX * 2ul)
        return 0;
    if (array_grow(&l->records, l->record_count, sizeof l->records[0]) != 0)
        return -ENOMEM;
    l->records[l->record_count++] = *record;
    return 0;
}

static int add(struct look *l, struct memory_cursor *cursor, const struct trace_slot *slot,
               const struct hr_access *access, const struct used *used)
{
    struct memory_lines_known *line = &l->known[used->line - 1];
    struct seen *seen = &l->seen[used->line - 1];
    struct access_source source;

    if ((seen->offsets >> used->offset & 1) == 0)
        line->things[used->offset] = memory_names_find(cursor, access->address, slot->time);
    seen->offsets |= 1ull << used->offset;
    if (memory_table_reserve(&l->table, 1) != 0)
        return -ENOMEM;
    source = memory_decoder_add(
        &l->decoder, memory_table_at(&l->table, place_of(cursor, used), slot->ip), access);
    if (seen->skipped != 0) {
        seen->skipped--;
        return 0;
    }
    seen->skipped = line->stride - 1;
    return add_record(l, &(struct record){slot->time, used->line - 1, cursor->tid, source.store});
}

static int take_samples(void *context, struct memory_cursor *cursor,
                        const struct trace_samples *samples)
{
    struct look *l = context;
    struct used used[MEMORY_LINES_BATCH];
    int error = 0;

    if (l->decoder.info == NULL)
        memory_decoder_init(&l->decoder, cursor->names->info);
    for (uint32_t first = 0; first < samples->count; first += MEMORY_LINES_BATCH) {
        uint32_t count = choose(l, cursor, samples, first, used);

        for (uint32_t i = 0; i < count; i++)
            memory_table_expect(&l->table, place_of(cursor, &used[i]),
                                samples->slots[used[i].number].ip);
        for (uint32_t i = 0; i < count && error == 0; i++)
            error = add(l, cursor, &samples->slots[used[i].number],
                        &samples->accesses[used[i].number], &used[i]);
    }
    return error;
}

static void *join(void *owner)
{
    const struct look *all = owner;
    struct look *l = calloc(1, sizeof *l);

    if (l != NULL && init(l, all->known, all->count) != 0) {
        drop(l);
        free(l);
        return NULL;
    }
    return l;
}

static int take(void *owner, void *context)
{
    struct look *all = owner;
    const struct look *l = context;
    int error = memory_table_merge(&all->table, &l->table);

    for (uint32_t i = 0; i < l->count; i++)
        for (uint32_t n = 0; n < MEMORY_LINE_BYTES; n++)
            if (all->known[i].things[n].key == 0)
                all->known[i].things[n] = l->known[i].things[n];
    for (size_t i = 0; i < l->record_count && error == 0; i++) {
        error = array_grow(&all->records, all->record_count, sizeof all->records[0]);
        if (error == 0)
            all->records[all->record_count++] = l->records[i];
    }
    return error;
}

static void leave(void * /*owner*/, void *context)
{
    drop(context);
    free(context);
}

static void restart(void *owner)
{
    struct look *all = owner;

    memory_table_free(&all->table);
    memory_table_init(&all->table, TABLE_BITS);
    all->record_count = 0;
}

static int by_line_and_time(const void *a, const void *b)
{
    const struct record *x = a, *y = b;

    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* Counts for each line how often one thread uses it after another one, unless both only read. */
static void count_turns(struct look *l, uint64_t *turns)
{
    bool before = false, written; /* in what one thread does in a row */
    size_t end;

    if (l->record_count != 0)
        qsort(l->records, l->record_count, sizeof l->records[0], by_line_and_time);
    for (size_t i = 0; i < l->record_count; i = end) {
        const struct record *first = &l->records[i];

        written = false;
        for (end = i; end < l->record_count && l->records[end].line == first->line &&
                      l->records[end].tid == first->tid;
             end++)
            written |= l->records[end].written;
        if (i != 0 && l->records[i - 1].line == first->line && (before || written))
            turns[first->line]++;
        before = written;
    }
}

static int by_place(const void *a, const void *b)
{
    const struct memory_use *x = a, *y = b;

    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return x->function != y->function ? strcmp(x->function, y->function) : 0;
}

/* Adds up what one thread does to an offset in one function. */
static void join_uses(struct memory_line *line)
{
    size_t kept = 0;

    qsort(line->uses, line->use_count, sizeof line->uses[0], by_place);
    for (size_t i = 0; i < line->use_count; i++) {
        memory_table_add(&line->sums, &line->uses[i].sums);
        if (i != 0 && by_place(&line->uses[kept - 1], &line->uses[i]) == 0)
            memory_table_add(&line->uses[kept - 1].sums, &line->uses[i].sums);
        else
            line->uses[kept++] = line->uses[i];
    }
    line->use_count = kept;
}

/* Records at parts that several threads use, one of them writing. */
static uint64_t records_together(const struct memory_line *line)
{
    uint64_t together = 0;
    size_t end;

    for (size_t i = 0; i < line->use_count; i = end) {
        const struct memory_use *first = &line->uses[i];
        bool others = false, written = false;
        uint64_t records = 0;

        for (end = i; end < line->use_count; end++) {
            const struct memory_use *use = &line->uses[end];

            if (use->field != first->field || use->start != first->start)
                break;
            others |= use->tid != first->tid;
            written |= use->sums.writes != 0;
            records += memory_sums_records(&use->sums);
        }
        if (others && written)
            together += records;
    }
    return together;
}

static enum memory_sharing sharing_of(const struct memory_line *line)
{
    uint64_t together = records_together(line), all = memory_sums_records(&line->sums);

    if (together <= all / 10)
        return MEMORY_SHARING_FALSE;
    return together >= all - all / 10 ? MEMORY_SHARING_TRUE : MEMORY_SHARING_BOTH;
}

static const char *part_name(struct memory_lines *lines, const struct memory_thing *thing,
                             uint64_t address)
{
    char text[MEMORY_NAME_BYTES];
    const char *kept;

    memory_names_part(&lines->accesses->names, thing->key, address - thing->start, text);
    kept = symbols_names_keep(&lines->names, text, strlen(text));
    return kept != NULL ? kept : "[other]";
}

/* Makes the line of entries first .. end - 1, unless threads do not take turns. */
static int add_line(struct memory_lines *lines, const struct look *l,
                    const struct memory_entry *entries, size_t count, uint64_t turns)
{
    const struct memory_lines_known *known = &l->known[(entries[0].first >> LINE_SHIFT) - 1];
    struct memory_line line = {.address = memory_lines_address(known->id),
                               .pid = known->pid,
                               .turns = turns,
                               .uses = calloc(count, sizeof line.uses[0]),
                               .use_count = count};

    if (line.uses == NULL || array_grow(&lines->all, lines->count, sizeof line) != 0) {
        free(line.uses);
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        struct memory_use *use = &line.uses[i];

        use->offset = (uint32_t)(entries[i].first >> OFFSET_SHIFT) % MEMORY_LINE_BYTES;
        use->tid = (uint32_t)entries[i].first;
        use->sums = entries[i].sums;
        use->start = known->things[use->offset].start;
        use->field = part_name(lines, &known->things[use->offset], line.address + use->offset);
        use->function =
            memory_profile_code(&lines->names, lines->accesses->symbols, entries[i].second, false);
    }
    join_uses(&line);
    line.name = line.uses[0].field;
    line.sharing = sharing_of(&line);
    lines->all[lines->count++] = line;
    return 0;
}

static int by_cost(const void *a, const void *b, void *context)
{
    const struct memory_line *x = a, *y = b;
    const struct memory_lines *lines = context;
    uint64_t cost = memory_sums_cost(&lines->total, &x->sums),
             other = memory_sums_cost(&lines->total, &y->sums);

    if (cost != other)
        return cost > other ? -1 : 1;
    return x->address < y->address ? -1 : x->address > y->address;
}

static int make_lines(struct memory_lines *lines, struct look *l)
{
    size_t count, end;
    struct memory_entry *entries = memory_table_sorted(&l->table, &count);
    uint64_t *turns = calloc(l->count + 1, sizeof *turns);
    int error = entries != NULL && turns != NULL ? 0 : -ENOMEM;

    if (error == 0)
        count_turns(l, turns);
    for (size_t i = 0; error == 0 && i < count; i = end) {
        uint64_t line = entries[i].first >> LINE_SHIFT; /* 0: what found no room */

        for (end = i + 1; end < count && entries[end].first >> LINE_SHIFT == line; end++)
            ;
        if (line != 0 && turns[line - 1] >= TURNS_LEAST)
            error = add_line(lines, l, entries + i, end - i, turns[line - 1]);
    }
    if (error == 0 && lines->count != 0)
        qsort_r(lines->all, lines->count, sizeof lines->all[0], by_cost, lines);
    free(entries);
    free(turns);
    return error;
}

int memory_lines_look(struct memory_lines *lines, struct memory_lines_known *known, uint32_t count)
{
    struct look *all = calloc(1, sizeof *all);
    const struct memory_team team = {.owner = all,
                                     .join = join,
                                     .samples = take_samples,
                                     .take = take,
                                     .leave = leave,
                                     .restart = restart};
    int error = all != NULL ? init(all, known, count) : -ENOMEM;

    if (error == 0)
        error = memory_accesses_walk(lines->accesses, &team);
    if (error == 0)
        error = make_lines(lines, all);
    if (all != NULL)
        drop(all);
    free(all);
    return error;
}

int memory_lines_make(struct memory_lines *lines, struct memory_accesses *accesses)
{
    struct memory_lines_known *known = calloc(MEMORY_LINES_MAX, sizeof *known);
    uint32_t count = 0;
    int error;

    *lines = (struct memory_lines){.accesses = accesses};
    if (known == NULL)
        return -ENOMEM;
    error = memory_lines_find(lines, known, &count);
    for (uint32_t i = 0; i < count; i++)
        known[i].stride = known[i].records / (RECORDS_MAX / count) | 1;
    if (error == 0 && count != 0)
        error = memory_lines_look(lines, known, count);
    free(known);
    return error;
}

void memory_lines_free(struct memory_lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        free(lines->all[i].uses);
    free(lines->all);
    symbols_names_free(&lines->names);
}
