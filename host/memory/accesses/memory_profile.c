/* Gives counts names, and adds up those with the same. */
#include "host/memory/accesses/memory_profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "host/base/text.h"

#define SHARE 1000u

struct item {
    const char *name, *other; /* kept once: the same text is the same pointer */
    struct memory_sums sums;
};

void memory_profile_free(struct memory_profile *rows)
{
    free(rows->all);
    symbols_names_free(&rows->names);
    *rows = (struct memory_profile){0};
}

static const char *keep(struct symbols_names *names, const char *text)
{
    const char *kept = symbols_names_keep(names, text, strlen(text));

    return kept != NULL ? kept : "[other]";
}

const char *memory_profile_code(struct symbols_names *names, struct symbols *symbols, uint64_t ip,
                                bool line)
{
    struct symbols_frame frames[SYMBOLS_FRAMES_MAX];
    struct symbols_place place;
    char text[MEMORY_NAME_BYTES];

    if (line) {
        symbols_frames(symbols, ip, frames);
        if (frames[0].file != NULL && frames[0].line != 0) {
            snprintf(text, sizeof text, "%s:%u", text_base_name(frames[0].file), frames[0].line);
            return keep(names, text);
        }
    }
    symbols_find(symbols, ip, &place);
    if (place.name == NULL && place.object == NULL)
        snprintf(text, sizeof text, "0x%lx", trace_spaces_shown(place.start));
    else
        snprintf(text, sizeof text, "%s", place.name != NULL ? place.name : place.object);
    return keep(names, text);
}

/* Names the entries, which are in the order of their keys. */
static void name_all(struct memory_profile *rows, const struct memory_counts *counts,
                     const struct memory_entry *entries, size_t count, enum memory_profile_by by,
                     struct item *items)
{
    struct memory_names *names = &counts->accesses->names;
    char text[MEMORY_NAME_BYTES];
    const char *thing = NULL;

    for (size_t i = 0; i < count; i++) {
        const struct memory_entry *entry = &entries[i];
        const char *code;

        if (i == 0 || !memory_names_join(entries[i - 1].first, entry->first))
            thing = keep(&rows->names, memory_names_text(names, entry->first, text));
        code = entry->second == 0 ? "[other]"
                                  : memory_profile_code(&rows->names, counts->accesses->symbols,
                                                        entry->second, by == MEMORY_PROFILE_LINES);
        items[i] = by == MEMORY_PROFILE_OBJECTS ? (struct item){thing, code, entry->sums}
                                                : (struct item){code, thing, entry->sums};
        memory_table_add(&rows->total, &entry->sums);
    }
}

static int by_names(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    int order = x->name != y->name ? strcmp(x->name, y->name) : 0;

    return order != 0 || x->other == y->other ? order : strcmp(x->other, y->other);
}

/* Of a row without known latencies, the number of accesses is what parts are compared by. */
static uint64_t cost_within(const struct memory_profile *rows, const struct memory_profile_row *row,
                            const struct memory_sums *sums)
{
    return memory_sums_cost(&rows->total, &row->sums) != 0 ? memory_sums_cost(&rows->total, sums)
                                                           : sums->estimated;
}

/* Makes one row of items with the same name, which are in the order of the other names. */
static int add_row(struct memory_profile *rows, const struct item *items, size_t count)
{
    struct memory_profile_row row = {.name = items[0].name, .other = items[0].other};
    struct memory_sums part = {0};
    uint64_t most = 0, all;

    for (size_t i = 0; i < count; i++)
        memory_table_add(&row.sums, &items[i].sums);
    for (size_t i = 0; i < count; i++) {
        if (i != 0 && items[i].other != items[i - 1].other)
            part = (struct memory_sums){0};
        memory_table_add(&part, &items[i].sums);
        if (cost_within(rows, &row, &part) > most) {
            most = cost_within(rows, &row, &part);
            row.other = items[i].other;
        }
    }
    all = cost_within(rows, &row, &row.sums);
    row.other_share = all != 0 ? (uint64_t)((double)most * SHARE / (double)all) : 0;
    if (array_grow(&rows->all, rows->count, sizeof row) != 0)
        return -ENOMEM;
    rows->all[rows->count++] = row;
    return 0;
}

static int by_cost(const void *a, const void *b, void *context)
{
    const struct memory_profile_row *x = a, *y = b;
    const struct memory_profile *rows = context;
    uint64_t cost = memory_sums_cost(&rows->total, &x->sums),
             other = memory_sums_cost(&rows->total, &y->sums);

    if (cost != other)
        return cost > other ? -1 : 1;
    if (x->sums.estimated != y->sums.estimated)
        return x->sums.estimated > y->sums.estimated ? -1 : 1;
    return strcmp(x->name, y->name);
}

int memory_profile_make(struct memory_profile *rows, const struct memory_counts *counts,
                        enum memory_profile_by by)
{
    size_t count, end;
    struct memory_entry *entries = memory_table_sorted(&counts->table, &count);
    struct item *items = calloc(count + 1, sizeof *items);
    int error = entries != NULL && items != NULL ? 0 : -ENOMEM;

    *rows = (struct memory_profile){0};
    if (error == 0) {
        name_all(rows, counts, entries, count, by, items);
        qsort(items, count, sizeof *items, by_names);
    }
    for (size_t i = 0; error == 0 && i < count; i = end) {
        for (end = i + 1; end < count && items[end].name == items[i].name; end++)
            ;
        error = add_row(rows, items + i, end - i);
    }
    if (error == 0 && rows->count != 0)
        qsort_r(rows->all, rows->count, sizeof rows->all[0], by_cost, rows);
    free(entries);
    free(items);
    return error;
}
