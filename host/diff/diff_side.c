/* Counts by address, then by name. */
#include "host/diff/diff_side.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/text.h"
#include "lib/hash.h"

#define SLOT_BITS 17
#define SLOTS (1u << SLOT_BITS)
#define INDEX_BITS 17 /* twice the rows: never more than half full */
#define NAME_BYTES 4096
#define SEQUENCE (1u << 20)
#define BREAK UINT32_MAX /* in the sequence: what follows is of another chunk */

enum { SLOT_IP, SLOT_SAMPLES, SLOT_SUMS };

static uint64_t *find_slot(struct diff_side *side, uint64_t ip)
{
    uint32_t i = hash_place(ip, SLOT_BITS);

    for (;; i = (i + 1) & (SLOTS - 1)) {
        uint64_t *slot = side->slots + (size_t)i * (SLOT_SUMS + side->event_count);

        if (slot[SLOT_SAMPLES] == 0) {
            slot[SLOT_IP] = ip;
            side->slots_used++;
            return slot;
        }
        if (slot[SLOT_IP] == ip)
            return slot;
    }
}

/* The row of a name; the first one, of all others, when there is no room. */
static struct diff_row *find_row(struct diff_side *side, const char *name, const char *object)
{
    uint32_t mask = (1u << INDEX_BITS) - 1;
    uint64_t hash = hash_bytes(HASH_BYTES_START, name, strlen(name) + 1);
    uint32_t i = hash_place(hash_bytes(hash, object, strlen(object)), INDEX_BITS);
    struct diff_row *row;

    for (; side->row_index[i] != 0; i = (i + 1) & mask) {
        row = &side->rows[side->row_index[i] - 1];
        if (strcmp(row->name, name) == 0 && strcmp(row->object, object) == 0)
            return row;
    }
    if (side->row_count == DIFF_ROWS_MAX)
        return &side->rows[0];
    row = &side->rows[side->row_count];
    row->name = strdup(name);
    row->object = strdup(object);
    if (row->name == NULL || row->object == NULL) {
        free(row->name);
        free(row->object);
        *row = (struct diff_row){0};
        return side->row_count != 0 ? &side->rows[0] : NULL;
    }
    side->row_index[i] = ++side->row_count;
    return row;
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

/* Counts the runs of samples in each row; the slots have the rows' numbers for their samples. */
static void count_runs(struct diff_side *side, size_t words)
{
    uint64_t row = BREAK, previous = BREAK;

    for (uint32_t i = 0; i < side->sequence_length; i++, previous = row) {
        uint32_t slot = side->sequence[i];

        row = slot != BREAK ? side->slots[slot * words + SLOT_SAMPLES] : BREAK;
        if (row != BREAK && row != previous)
            side->rows[row].runs++;
    }
    side->sequence_length = 0;
}

static int fold(struct diff_side *side)
{
    size_t words = SLOT_SUMS + side->event_count;
    char name[NAME_BYTES];
    const char *object;
    int error = 0;

    if (side->symbols == NULL)
        error = symbols_open(&side->symbols, &side->scan.info, side->scan.symbols);
    else
        error = symbols_update(side->symbols, &side->scan.info);
    side->program = program_of(&side->scan.info);
    for (uint32_t n = 0; n < SLOTS && error == 0; n++) {
        uint64_t *slot = side->slots + n * words;
        struct diff_row *row;

        if (slot[SLOT_SAMPLES] == 0)
            continue;
        name_place(side, slot[SLOT_IP], name, &object);
        row = find_row(side, name, object);
        if (row == NULL)
            return -ENOMEM;
        row->counts.samples += slot[SLOT_SAMPLES];
        for (uint32_t i = 0; i < side->event_count; i++)
            row->counts.sums[i] += slot[SLOT_SUMS + i];
        slot[SLOT_SAMPLES] = (uint64_t)(row - side->rows);
    }
    count_runs(side, words);
    memset(side->slots, 0, SLOTS * words * sizeof side->slots[0]);
    side->slots_used = 0;
    return error;
}

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct diff_side *side = context;
    const struct trace_slot *previous = samples->previous;
    bool resumed = samples->count != 0 && (samples->slots[0].flags & HR_SAMPLE_RESUMED) != 0;
    uint64_t all = 0;
    size_t words;
    int error = 0;

    if (samples->event_count != side->event_count) { /* only before the first one, unless forged */
        if (side->all.samples != 0)
            return 0;
        side->event_count = samples->event_count;
    }
    if (side->slots_used + samples->count > SLOTS / 4 * 3 ||
        side->sequence_length + samples->count >= SEQUENCE)
        error = fold(side);
    words = SLOT_SUMS + side->event_count;
    side->sequence[side->sequence_length++] = BREAK;
    object_share_add(&side->share, &side->scan.info, samples);
    for (uint32_t n = 0; n < samples->count && error == 0; n++) {
        const struct trace_slot *sample = &samples->slots[n];
        uint64_t *slot = find_slot(side, sample->ip);

        side->sequence[side->sequence_length++] = (uint32_t)((size_t)(slot - side->slots) / words);
        slot[SLOT_SAMPLES] += trace_samples_weight(samples, n);
        all += trace_samples_weight(samples, n);
        for (uint32_t i = 0; i < side->event_count && !resumed; i++) {
            slot[SLOT_SUMS + i] += sample->counters[i] - previous->counters[i];
            side->all.sums[i] += sample->counters[i] - previous->counters[i];
        }
        previous = sample;
    }
    side->all.samples += all;
    return error;
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

static int walk(struct diff_side *side)
{
    const struct trace_visitor visitor = {
        .context = side, .exact = true, .names = true, .samples = take_samples};
    int error;

    side->slots = calloc((size_t)SLOTS * (SLOT_SUMS + HR_EVENTS_MAX), sizeof side->slots[0]);
    side->rows = calloc(DIFF_ROWS_MAX, sizeof side->rows[0]);
    side->row_index = calloc(1u << INDEX_BITS, sizeof side->row_index[0]);
    side->sequence = calloc(SEQUENCE, sizeof side->sequence[0]);
    if (side->sequence == NULL || side->slots == NULL || side->rows == NULL ||
        side->row_index == NULL)
        return -ENOMEM;
    if (find_row(side, "[others]", "") == NULL)
        return -ENOMEM;
    error = trace_scan_run(&side->scan, &visitor);
    if (error == 0)
        error = fold(side);
    free(side->slots);
    free(side->sequence);
    side->slots = NULL;
    side->sequence = NULL;
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
    for (uint32_t i = 0; i < side->row_count; i++) {
        free(side->rows[i].name);
        free(side->rows[i].object);
    }
    free(side->rows);
    free(side->row_index);
    free(side->slots);
    free(side->sequence);
    object_share_free(&side->share);
    symbols_close(side->symbols);
    if (side->path != NULL)
        trace_scan_close(&side->scan);
    memset(side, 0, sizeof *side); /* a second call frees nothing */
}

uint64_t diff_side_total(const struct diff_side *side, uint32_t event)
{
    return side->whole ? side->scan.info.events[event].total : side->all.sums[event];
}
