/* Keeps pieces of code that was made at run time, and finds the one at an address. */
#include "host/trace/trace_jit.h"

#include <errno.h>
#include <stdlib.h>

#include "host/base/array.h"
#include "host/trace/trace_jit_read.h"

void trace_jit_free(struct trace_jit *jit)
{
    free(jit->codes);
    free(jit->lines);
    free(jit->ranges);
    free(jit->timed);
    *jit = (struct trace_jit){0};
}

int trace_jit_put(struct trace_jit *jit, const struct trace_jit_code *code)
{
    if (code->start >= code->end || jit->count == TRACE_JIT_CODES_MAX) {
        jit->refused++;
        return 0;
    }
    if (array_grow(&jit->codes, jit->count, sizeof *code) != 0)
        return -ENOMEM;
    jit->codes[jit->count++] = *code;
    return 0;
}

int trace_jit_put_line(struct trace_jit *jit, const struct trace_jit_line *line)
{
    if (jit->line_count == TRACE_JIT_CODES_MAX) {
        jit->refused++;
        return 0;
    }
    if (array_grow(&jit->lines, jit->line_count, sizeof *line) != 0)
        return -ENOMEM;
    jit->lines[jit->line_count++] = *line;
    return 0;
}

int trace_jit_add(struct trace_jit *jit, const struct trace_jit_file *file)
{
    if (file->bytes == NULL)
        return 0;
    return file->meta.kind == HR_JIT_DUMP       ? trace_jit_read_dump(jit, file)
           : file->meta.kind == HR_JIT_PERF_MAP ? trace_jit_read_map(jit, file)
                                                : 0;
}

/* ---- from pieces that cover each other to ranges */

static int by_start(const void *a, const void *b)
{
    const struct trace_jit_code *x = a, *y = b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* The pieces that hold the current address and maybe some that have ended, the latest on top. */
struct heap {
    const struct trace_jit_code *codes;
    uint32_t *all;
    size_t count;
};

static bool later(const struct heap *h, size_t a, size_t b)
{
    return h->codes[h->all[a]].order > h->codes[h->all[b]].order;
}

static void swap(struct heap *h, size_t a, size_t b)
{
    uint32_t code = h->all[a];

    h->all[a] = h->all[b];
    h->all[b] = code;
}

static void push(struct heap *h, uint32_t code)
{
    size_t i = h->count++;

    h->all[i] = code;
    for (; i > 0 && later(h, i, (i - 1) / 2); i = (i - 1) / 2)
        swap(h, i, (i - 1) / 2);
}

static void pop(struct heap *h)
{
    size_t i = 0, child;

    h->all[0] = h->all[--h->count];
    while ((child = 2 * i + 1) < h->count) {
        if (child + 1 < h->count && later(h, child + 1, child))
            child++;
        if (!later(h, child, i))
            break;
        swap(h, i, child);
        i = child;
    }
}

struct ranges { /* under construction */
    struct trace_jit_range *all;
    size_t count;
};

/* Adds the part of a piece up to `until`; a part that continues the last one grows it. */
static void put_range(struct ranges *r, uint32_t code, uint64_t start, uint64_t until)
{
    size_t last = r->count - 1;

    if (r->count != 0 && r->all[last].code == code && r->all[last].end == start)
        r->all[last].end = until;
    else
        r->all[r->count++] = (struct trace_jit_range){start, until, code};
}

/* Takes ranges from `at` up to `until` out of the heap. */
static void cut_ranges(struct ranges *r, struct heap *h, uint64_t at, uint64_t until)
{
    while (h->count != 0 && at < until) {
        const struct trace_jit_code *top = &h->codes[h->all[0]];
        uint64_t end = top->end < until ? top->end : until;

        if (top->end <= at) {
            pop(h);
            continue;
        }
        put_range(r, h->all[0], at, end);
        at = end;
    }
}

static int by_address(const void *a, const void *b)
{
    const struct trace_jit_line *x = a, *y = b;

    return x->address < y->address ? -1 : x->address > y->address;
}

/* Marks pieces that share addresses, by a place that is not 0.  Of all pieces up to one the one
 * that reaches farthest shares addresses with the next one, if any does. */
static size_t mark_shared(struct trace_jit *jit)
{
    struct trace_jit_code *farthest = NULL;
    size_t count = 0;

    for (size_t i = 0; i < jit->count; i++) {
        struct trace_jit_code *code = &jit->codes[i];

        if (!code->timed)
            continue;
        if (farthest != NULL && code->start < farthest->end) {
            count += farthest->place == 0;
            farthest->place = code->place = 1;
            count++;
        }
        if (farthest == NULL || code->end > farthest->end)
            farthest = code;
    }
    return count;
}

static int find_timed(struct trace_jit *jit)
{
    size_t count = mark_shared(jit);

    if (jit->place == 0)
        jit->place = TRACE_JIT_PLACES;
    if (count == 0)
        return 0;
    jit->timed = malloc(count * sizeof jit->timed[0]);
    if (jit->timed == NULL)
        return -ENOMEM;
    for (size_t i = 0; i < jit->count; i++) {
        struct trace_jit_code *code = &jit->codes[i];
        uint64_t bytes = code->end - code->start;

        if (code->place == 0)
            continue;
        code->place = bytes < TRACE_JIT_PLACES_END - jit->place ? jit->place : 0;
        if (code->place == 0)
            continue; /* it is larger than memory */
        jit->place += bytes;
        jit->timed[jit->timed_count++] = (uint32_t)i;
        jit->timed_bytes = bytes > jit->timed_bytes ? bytes : jit->timed_bytes;
    }
    return 0;
}

/* n pieces have 2n ends, and so at most 2n ranges. */
int trace_jit_finish(struct trace_jit *jit)
{
    struct heap h = {.codes = jit->codes};
    struct ranges ranges = {.all = NULL};

    if (jit->count == 0)
        return 0;
    qsort(jit->codes, jit->count, sizeof jit->codes[0], by_start);
    h.all = malloc(jit->count * sizeof h.all[0]);
    ranges.all = malloc(2 * jit->count * sizeof ranges.all[0]);
    if (h.all == NULL || ranges.all == NULL) {
        free(h.all);
        free(ranges.all);
        return -ENOMEM;
    }
    for (size_t i = 0; i < jit->count; i++) {
        const struct trace_jit_code *code = &jit->codes[i];

        if (code->line_count != 0)
            qsort(jit->lines + code->first_line, code->line_count, sizeof jit->lines[0],
                  by_address);
        push(&h, (uint32_t)i);
        cut_ranges(&ranges, &h, code->start,
                   i + 1 < jit->count ? jit->codes[i + 1].start : UINT64_MAX);
    }
    free(h.all);
    jit->ranges = ranges.all;
    jit->range_count = ranges.count;
    return find_timed(jit);
}

/* Returns how many of the timed pieces start at or before an address, or a place. */
static size_t timed_before(const struct trace_jit *jit, uint64_t address, bool place)
{
    size_t low = 0, high = jit->timed_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct trace_jit_code *code = &jit->codes[jit->timed[middle]];

        if ((place ? code->place : code->start) <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct trace_jit_code *at_place(const struct trace_jit *jit, uint64_t place)
{
    size_t i = timed_before(jit, place, true);
    const struct trace_jit_code *code = i != 0 ? &jit->codes[jit->timed[i - 1]] : NULL;

    return code != NULL && place - code->place < code->end - code->start ? code : NULL;
}

#define STEPS_MAX 4096u /* of a search among pieces that start close to each other */

uint64_t trace_jit_place(const struct trace_jit *jit, uint64_t address, uint64_t time_ns)
{
    const struct trace_jit_code *found = NULL;
    size_t i = jit->timed_count != 0 ? timed_before(jit, address, false) : 0;

    for (uint32_t steps = 0; i-- > 0 && steps < STEPS_MAX; steps++) {
        const struct trace_jit_code *code = &jit->codes[jit->timed[i]];

        if (address - code->start >= jit->timed_bytes)
            break;
        if (address < code->end && code->order <= time_ns &&
            (found == NULL || code->order > found->order))
            found = code;
    }
    return found != NULL ? found->place + (address - found->start) : address;
}

const struct trace_jit_code *trace_jit_find(const struct trace_jit *jit, uint64_t address)
{
    size_t low = 0, high = jit->range_count;

    if (address >= TRACE_JIT_PLACES && address < TRACE_JIT_PLACES_END)
        return at_place(jit, address);
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (jit->ranges[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low != 0 && address < jit->ranges[low - 1].end ? &jit->codes[jit->ranges[low - 1].code]
                                                          : NULL;
}

const struct trace_jit_line *trace_jit_line(const struct trace_jit *jit,
                                            const struct trace_jit_code *code, uint64_t address)
{
    const struct trace_jit_line *lines;
    uint32_t low = 0, high = code->line_count;

    if (high == 0)
        return NULL;
    if (code->place != 0 && address >= code->place)
        address = address - code->place + code->start;
    lines = jit->lines + code->first_line;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (lines[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low != 0 ? &lines[low - 1] : NULL;
}
