/* Counts by address, then by name. */
#include "host/diff/diff_side.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/text.h"
#include "host/scan/trace_parallel.h"
#include "lib/hash.h"

#define SLOT_BITS 17
#define SLOTS (1u << SLOT_BITS)
#define INDEX_BITS 17 /* twice the rows: never more than half full */
#define NAME_BYTES 4096
#define SEQUENCE (1u << 18)
#define BREAK UINT32_MAX /* in the sequence: what follows is of another chunk */

enum { SLOT_IP, SLOT_SAMPLES, SLOT_SUMS };

struct counter { /* a worker's counts since its last fold */
    struct diff_side *side;
    uint64_t *slots; /* SLOT_SUMS + event_count words for each address: a hash table; owned */
    uint32_t *used; /* the numbers of slots that are in use; owned */
    uint32_t slots_used;
    uint32_t *slot_rows; /* a row's number + 1 for each slot; 0: not known yet; owned */
    uint32_t named; /* slots whose row is known */
    uint64_t *runs; /* of each row; owned */
    uint32_t *sequence; /* slots of the samples since runs were last counted, in order; owned */
    uint32_t sequence_length;
    uint32_t event_count;
    bool begun;
    struct object_share share;
};

static size_t words_of(const struct counter *c)
{
    return SLOT_SUMS + c->event_count;
}

static uint64_t *find_slot(struct counter *c, uint64_t ip)
{
    uint32_t i = hash_place(ip, SLOT_BITS);

    for (;; i = (i + 1) & (SLOTS - 1)) {
        uint64_t *slot = c->slots + i * words_of(c);

        if (slot[SLOT_SAMPLES] == 0) {
            slot[SLOT_IP] = ip;
            c->used[c->slots_used++] = i;
            return slot;
        }
        if (slot[SLOT_IP] == ip)
            return slot;
    }
}

/* The row of a name; the first, of all others, when there is no room.  0, -ENOMEM or -EAGAIN. */
static int find_row(struct diff_side *side, const char *name, const char *object,
                    struct diff_row **found)
{
    uint32_t mask = (1u << INDEX_BITS) - 1;
    uint64_t hash = hash_bytes(HASH_BYTES_START, name, strlen(name) + 1);
    uint32_t i = hash_place(hash_bytes(hash, object, strlen(object)), INDEX_BITS);
    struct diff_row *row;

    for (; side->row_index[i] != 0; i = (i + 1) & mask) {
        row = *found = &side->rows[side->row_index[i] - 1];
        if (strcmp(row->name, name) == 0 && strcmp(row->object, object) == 0)
            return 0;
    }
    *found = &side->rows[0];
    if (side->row_count == DIFF_ROWS_MAX)
        return side->alone ? 0 : -EAGAIN;
    row = &side->rows[side->row_count];
    row->name = strdup(name);
    row->object = strdup(object);
    if (row->name == NULL || row->object == NULL) {
        free(row->name);
        free(row->object);
        *row = (struct diff_row){0};
        return -ENOMEM;
    }
    side->row_index[i] = ++side->row_count;
    *found = row;
    return 0;
}

/* "[kernel] name", or "file:line"; where there is no name, that it is unknown: ranges of addresses
 * would not be the same in another build. */
static void name_place(struct diff_side *side, uint64_t ip, char name[NAME_BYTES],
                       const char **object)
{
    struct symbols_frame frames[SYMBOLS_FRAMES_MAX];
    struct symbols_place place;
    bool nameless;

    symbols_find(side->symbols, ip, &place);
    nameless = place.nameless || place.name == NULL;
    *object = place.object != NULL ? place.object : place.kernel ? "[kernel]" : "[unknown]";
    if (side->alias != NULL && side->program != NULL && strcmp(*object, side->program) == 0)
        *object = side->alias;
    name[0] = 0;
    if (side->by == DIFF_BY_LIBRARY)
        return;
    if (side->by == DIFF_BY_LINE && symbols_frames(side->symbols, ip, frames) != 0 &&
        frames[0].file != NULL)
        snprintf(name, NAME_BYTES, "%s:%u", frames[0].file, frames[0].line);
    else
        snprintf(name, NAME_BYTES, "%s%s", place.kernel && !nameless ? "[kernel] " : "",
                 nameless ? "[no symbols]" : place.name);
}

static const char *program_of(const struct trace_info *info)
{
    const char *path = trace_info_text(info, "program.path", NULL);

    return path != NULL ? text_base_name(path) : NULL;
}

/* Counts the runs of samples in each row. */
static void count_runs(struct counter *c)
{
    uint32_t row = 0, previous = 0; /* 0: what follows is of another chunk */

    for (uint32_t i = 0; i < c->sequence_length; i++, previous = row) {
        row = c->sequence[i] != BREAK ? c->slot_rows[c->sequence[i]] : 0;
        if (row != 0 && row != previous)
            c->runs[row - 1]++;
    }
    c->sequence_length = 0;
}

/* Finds the rows of slots that have none.  The side is locked. */
static int name_slots(struct counter *c)
{
    struct diff_side *side = c->side;
    char name[NAME_BYTES];
    const char *object;
    int error = 0;

    if (side->symbols == NULL)
        error = symbols_open(&side->symbols, &side->scan.info, side->scan.symbols);
    else if (side->alone)
        error = symbols_update(side->symbols, &side->scan.info);
    side->program = program_of(&side->scan.info);
    for (; c->named < c->slots_used && error == 0; c->named++) {
        uint32_t n = c->used[c->named];
        const uint64_t *slot = c->slots + n * words_of(c);
        struct diff_row *row;

        if (slot[SLOT_SAMPLES] == 0 || c->slot_rows[n] != 0)
            continue;
        name_place(side, slot[SLOT_IP], name, &object);
        error = find_row(side, name, object, &row);
        c->slot_rows[n] = (uint32_t)(row - side->rows) + 1;
    }
    return error;
}

static void add_slot(struct diff_counts *counts, const uint64_t *slot, uint32_t events)
{
    counts->samples += slot[SLOT_SAMPLES];
    for (uint32_t i = 0; i < events; i++)
        counts->sums[i] += slot[SLOT_SUMS + i];
}

/* Adds the counts to the rows, and empties the tables.  The side is locked. */
static int fold(struct counter *c)
{
    struct diff_side *side = c->side;
    int error = name_slots(c);

    if (error != 0)
        return error;
    count_runs(c);
    for (uint32_t u = 0; u < c->slots_used; u++) { /* the others' pages are never touched */
        uint32_t n = c->used[u], row = c->slot_rows[n];
        uint64_t *slot = c->slots + n * words_of(c);

        if (row != 0) {
            add_slot(&side->rows[row - 1].counts, slot, c->event_count);
            add_slot(&side->all, slot, c->event_count);
        }
        memset(slot, 0, words_of(c) * sizeof slot[0]);
        c->slot_rows[n] = 0;
    }
    for (uint32_t i = 0; i < side->row_count; i++)
        side->rows[i].runs += c->runs[i];
    memset(c->runs, 0, side->row_count * sizeof c->runs[0]);
    c->slots_used = c->named = 0;
    return 0;
}

/* Where one worker walks, libraries are loaded on the way: a name is that of the samples' time. */
static int make_room(struct counter *c, uint32_t count)
{
    bool full = c->slots_used + count > SLOTS / 4 * 3;
    int error = 0;

    if (!full && c->sequence_length + count < SEQUENCE)
        return 0;
    full |= c->side->alone;
    if (full || c->named != c->slots_used) {
        pthread_mutex_lock(&c->side->lock);
        error = full ? fold(c) : name_slots(c);
        pthread_mutex_unlock(&c->side->lock);
    }
    if (error == 0)
        count_runs(c);
    return error;
}

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct counter *c = context;
    const struct trace_slot *previous = samples->previous;
    bool resumed = samples->count != 0 && (samples->slots[0].flags & HR_SAMPLE_RESUMED) != 0;
    uint32_t last = BREAK;
    int error;

    if (samples->event_count != c->event_count) { /* only before the first one, unless forged */
        if (c->begun)
            return 0;
        c->event_count = samples->event_count;
    }
    c->begun = true;
    error = make_room(c, samples->count);
    if (error != 0)
        return error;
    c->sequence[c->sequence_length++] = BREAK;
    object_share_add(&c->share, &c->side->scan.info, samples);
    for (uint32_t n = 0; n < samples->count; n++) {
        const struct trace_slot *sample = &samples->slots[n];
        uint64_t *slot = find_slot(c, sample->ip);
        uint32_t number = (uint32_t)((size_t)(slot - c->slots) / words_of(c));

        if (number != last)
            c->sequence[c->sequence_length++] = last = number;
        slot[SLOT_SAMPLES] += trace_samples_weight(samples, n);
        for (uint32_t i = 0; i < c->event_count && !resumed; i++)
            slot[SLOT_SUMS + i] += sample->counters[i] - previous->counters[i];
        previous = sample;
    }
    return 0;
}

int diff_side_compare(const struct diff_row *a, const struct diff_row *b)
{
    int order = strcmp(a->name, b->name);

    return order != 0 ? order : strcmp(a->object, b->object);
}

static int compare(const void *a, const void *b)
{
    return diff_side_compare(a, b);
}

/* Totals of the whole run are exact where the trace has them; samples end a little before. */
static bool has_totals(const struct diff_side *side)
{
    const struct trace_info *info = &side->scan.info;

    for (uint32_t i = 0; i < info->event_count; i++)
        if (!info->events[i].has_total)
            return false;
    return selection_is_all(&side->scan.selection);
}

static void leave(void *, void *context)
{
    struct counter *c = context;

    object_share_free(&c->share);
    free(c->slots);
    free(c->used);
    free(c->slot_rows);
    free(c->runs);
    free(c->sequence);
    free(c);
}

static void *join(void *owner, struct trace_scan * /*scan*/)
{
    struct counter *c = calloc(1, sizeof *c);

    if (c == NULL)
        return NULL;
    c->side = owner;
    c->slots = calloc((size_t)SLOTS * (SLOT_SUMS + HR_EVENTS_MAX), sizeof c->slots[0]);
    c->used = calloc(SLOTS, sizeof c->used[0]);
    c->slot_rows = calloc(SLOTS, sizeof c->slot_rows[0]);
    c->runs = calloc(DIFF_ROWS_MAX, sizeof c->runs[0]);
    c->sequence = calloc(SEQUENCE, sizeof c->sequence[0]);
    if (c->slots != NULL && c->used != NULL && c->slot_rows != NULL && c->runs != NULL &&
        c->sequence != NULL)
        return c;
    leave(owner, c);
    return NULL;
}

static int take(void *owner, void *context)
{
    struct diff_side *side = owner;
    struct counter *c = context;

    object_share_merge(&side->share, &c->share);
    return fold(c);
}

static void forget_rows(struct diff_side *side)
{
    for (uint32_t i = 0; i < side->row_count; i++) {
        free(side->rows[i].name);
        free(side->rows[i].object);
    }
    side->row_count = 0;
    object_share_free(&side->share);
    symbols_close(side->symbols);
    side->symbols = NULL;
    side->program = NULL;
}

/* One worker begins, whose libraries are loaded as it walks. */
static void restart(void *owner)
{
    struct diff_side *side = owner;
    struct diff_row *others;

    forget_rows(side);
    memset(side->rows, 0, DIFF_ROWS_MAX * sizeof side->rows[0]);
    memset(side->row_index, 0, sizeof side->row_index[0] << INDEX_BITS);
    memset(&side->all, 0, sizeof side->all);
    side->alone = true;
    (void)find_row(side, "[others]", "", &others);
}

static int walk(struct diff_side *side)
{
    const struct trace_team team = {
        .owner = side,
        .visitor = {.exact = true, .names = true, .samples = take_samples},
        .join = join,
        .take = take,
        .leave = leave,
        .restart = restart,
    };
    struct diff_row *others;
    int error;

    side->rows = calloc(DIFF_ROWS_MAX, sizeof side->rows[0]);
    side->row_index = calloc(1u << INDEX_BITS, sizeof side->row_index[0]);
    if (side->row_index == NULL || side->rows == NULL)
        return -ENOMEM;
    error = find_row(side, "[others]", "", &others);
    if (error == 0)
        error = trace_parallel_run(&side->scan, &team, side->scan.jobs);
    qsort(side->rows, side->row_count, sizeof side->rows[0], compare);
    side->whole = has_totals(side);
    return error;
}

int diff_side_read(struct diff_side *side, const char *path, struct selection *selection,
                   const struct symbols_options *symbols, unsigned int jobs, enum diff_by by,
                   const char *alias)
{
    int error;

    memset(side, 0, sizeof *side);
    side->path = path;
    side->by = by;
    side->alias = alias;
    pthread_mutex_init(&side->lock, NULL);
    error = trace_scan_open(&side->scan, path);
    if (error != 0) {
        side->path = NULL;
        selection_free(selection);
        return error;
    }
    side->scan.selection = *selection; /* the scan frees it */
    side->scan.symbols = symbols;
    side->scan.jobs = jobs;
    selection_init(selection);
    error = walk(side);
    trace_files_sort(&side->scan.info.files);
    return error;
}

void diff_side_free(struct diff_side *side)
{
    forget_rows(side);
    free(side->rows);
    free(side->row_index);
    if (side->path != NULL)
        trace_scan_close(&side->scan);
    memset(side, 0, sizeof *side); /* a second call frees nothing */
}
