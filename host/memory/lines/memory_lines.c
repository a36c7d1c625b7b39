/* Looks at what threads do in the cache lines that they share. */
#include "host/memory/lines/memory_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/memory/accesses/memory_profile.h"

#define TURNS_LEAST 3u /* one thread after the other is no sharing */

static int by_line_and_time(const void *a, const void *b)
{
    const struct memory_lines_record *x = a, *y = b;

    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* Counts for each line how often one thread uses it after another one, unless both only read. */
static void count_turns(struct memory_lines_look *l, uint64_t *turns)
{
    bool before = false, written; /* in what one thread does in a row */
    size_t end;

    if (l->record_count != 0)
        qsort(l->records, l->record_count, sizeof l->records[0], by_line_and_time);
    for (size_t i = 0; i < l->record_count; i = end) {
        const struct memory_lines_record *first = &l->records[i];

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
static int add_line(struct memory_lines *lines, const struct memory_lines_look *l,
                    const struct memory_entry *entries, size_t count, uint64_t turns)
{
    const struct memory_lines_known *known =
        &l->known[(entries[0].first >> MEMORY_LINES_SHIFT) - 1];
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

        use->offset = (uint32_t)(entries[i].first >> MEMORY_LINES_OFFSET_SHIFT) % MEMORY_LINE_BYTES;
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

static int make_lines(struct memory_lines *lines, struct memory_lines_look *l)
{
    size_t count, end;
    struct memory_entry *entries = memory_table_sorted(&l->table, &count);
    uint64_t *turns = calloc(l->count + 1, sizeof *turns);
    int error = entries != NULL && turns != NULL ? 0 : -ENOMEM;

    if (error == 0)
        count_turns(l, turns);
    for (size_t i = 0; error == 0 && i < count; i = end) {
        uint64_t line = entries[i].first >> MEMORY_LINES_SHIFT; /* 0: what found no room */

        for (end = i + 1; end < count && entries[end].first >> MEMORY_LINES_SHIFT == line; end++)
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

static int look(struct memory_lines *lines, const struct memory_lines_known *known, uint32_t count)
{
    struct memory_lines_look all;
    int error = memory_lines_look(&all, lines->accesses, known, count);

    if (error == 0)
        error = make_lines(lines, &all);
    memory_lines_look_free(&all);
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
        known[i].stride = known[i].records / (MEMORY_LINES_RECORDS_MAX / count) | 1;
    if (error == 0 && count != 0)
        error = look(lines, known, count);
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
