/* Finds the cache lines that several threads use. */
#include <errno.h>
#include <stdlib.h>

#include "host/base/array.h"
#include "host/memory/accesses/memory_decoder.h"
#include "host/memory/lines/memory_lines.h"
#include "lib/hash.h"

#define FIRST_BITS 12u
#define BITS_MAX 20u /* 2^20 places of half a cache line for each worker: 32 MiB */
#define RECORDS_MAX ((1u << 30) - 1)
#define STRIDE 0x9e3779b1u /* odd: in the order of places one end would be full first */
#define FEW 3u /* records: a line with no more, of one thread, goes when there is no room */

struct line {
    uint64_t id;
    uint64_t cost, estimated;
    uint32_t tid; /* of the first record */
    uint32_t records : 30; /* 0: a free place */
    uint32_t shared : 1, written : 1;
};

struct finder {
    struct line *places;
    uint32_t bits, used;
    struct memory_decoder decoder;
    struct memory_sums total;
    uint64_t records, without;
    uint64_t left_out;
    bool full; /* hardly anything can be dropped */
};

static struct line *place_of(struct line *places, uint32_t bits, uint64_t id)
{
    uint32_t mask = (1u << bits) - 1, i = hash_place(id, bits);

    while (places[i].records != 0 && places[i].id != id)
        i = (i + 1) & mask;
    return &places[i];
}

static void expect(const struct finder *f, uint64_t id)
{
    __builtin_prefetch(&f->places[hash_place(id, f->bits)], 1);
}

static uint32_t room(const struct finder *f)
{
    return f->places != NULL ? (1u << f->bits) / 4 * 3 : 0;
}

/* Makes the table larger, or, where it may not grow, drops lines that are hardly used.  Which these
 * are depends on the order; lines that matter are not among them. */
static int make_room(struct finder *f)
{
    struct finder next = *f;

    next.bits = f->places == NULL ? FIRST_BITS : f->bits < BITS_MAX ? f->bits + 1 : f->bits;
    next.places = array_zeros(((size_t)1 << next.bits) * sizeof next.places[0]);
    next.used = 0;
    if (next.places == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; f->places != NULL && i >> f->bits == 0; i++) {
        const struct line *line = &f->places[i];

        if (line->records == 0 || (next.bits == f->bits && line->records <= FEW && !line->shared))
            continue;
        *place_of(next.places, next.bits, line->id) = *line;
        next.used++;
    }
    free(f->places);
    *f = next;
    f->full = f->bits == BITS_MAX && f->used > room(f) / 2;
    return 0;
}

/* Whether more records need more room, and can have it. */
static bool is_short(const struct finder *f, uint32_t records)
{
    if (f->bits < BITS_MAX)
        return f->used + records > room(f);
    return f->used == room(f) && !f->full;
}

/* The place of a line, new or known; NULL: there is no room. */
static struct line *line_of(struct finder *f, uint64_t id)
{
    struct line *line = place_of(f->places, f->bits, id);

    if (line->records != 0)
        return line;
    if (f->used == room(f)) {
        f->left_out++;
        return NULL;
    }
    f->used++;
    line->id = id;
    return line;
}

static void add(struct finder *f, uint32_t tid, uint64_t id, const struct hr_access *access)
{
    uint64_t cost = f->total.cost, estimated = f->total.estimated;
    bool store = memory_decoder_add(&f->decoder, &f->total, access).store;
    struct line *line = line_of(f, id);

    if (line == NULL)
        return;
    if (line->records == 0)
        line->tid = tid;
    line->records += line->records != RECORDS_MAX;
    line->shared |= line->tid != tid;
    line->written |= store;
    line->cost += f->total.cost - cost;
    line->estimated += f->total.estimated - estimated;
}

static void add_batch(struct finder *f, struct memory_cursor *cursor,
                      const struct trace_samples *samples, uint32_t first, uint32_t count)
{
    const struct hr_access *accesses = samples->accesses + first;
    uint64_t ids[MEMORY_LINES_BATCH];

    for (uint32_t n = 0; n < count; n++) {
        ids[n] = memory_lines_id(cursor, accesses[n].address, samples->slots[first + n].time);
        expect(f, ids[n]);
    }
    for (uint32_t n = 0; n < count; n++) {
        if (accesses[n].address == 0)
            f->without++;
        else
            add(f, cursor->tid, ids[n], &accesses[n]);
    }
}

static int take_samples(void *context, struct memory_cursor *cursor,
                        const struct trace_samples *samples)
{
    struct finder *f = context;
    uint32_t count;

    if (f->decoder.info == NULL)
        memory_decoder_init(&f->decoder, cursor->names->info);
    f->records += samples->count;
    if (is_short(f, samples->count) && make_room(f) != 0)
        return -ENOMEM;
    for (uint32_t first = 0; first < samples->count; first += count) {
        count = samples->count - first;
        if (count > MEMORY_LINES_BATCH)
            count = MEMORY_LINES_BATCH;
        add_batch(f, cursor, samples, first, count);
    }
    return 0;
}

static void *join(void * /*owner*/)
{
    struct finder *f = calloc(1, sizeof *f);

    if (f != NULL && make_room(f) != 0) {
        free(f);
        return NULL;
    }
    return f;
}

static int merge(struct finder *f, const struct line *of)
{
    struct line *line;
    int error = 0;

    if (is_short(f, 1))
        error = make_room(f);
    line = error == 0 ? line_of(f, of->id) : NULL;
    if (line == NULL)
        return error;
    if (line->records == 0) {
        *line = *of;
        return 0;
    }
    line->records += RECORDS_MAX - line->records < of->records ? 0 : of->records;
    line->shared |= of->shared || line->tid != of->tid;
    line->written |= of->written;
    line->cost += of->cost;
    line->estimated += of->estimated;
    return 0;
}

static int take(void *owner, void *context)
{
    struct finder *all = owner, *f = context;
    int error = 0;

    if (all->records == 0) { /* it is all there is, so far */
        struct finder empty = *all;

        *all = *f;
        *f = empty;
        return 0;
    }
    memory_table_add(&all->total, &f->total);
    all->records += f->records;
    all->without += f->without;
    all->left_out += f->left_out;
    for (uint32_t i = 0; i >> f->bits == 0 && error == 0; i++) {
        const struct line *line = &f->places[(i * STRIDE) & ((1u << f->bits) - 1)];

        error = line->records != 0 ? merge(all, line) : 0;
    }
    return error;
}

static void leave(void * /*owner*/, void *context)
{
    struct finder *f = context;

    free(f->places);
    free(f);
}

static void restart(void *owner)
{
    struct finder *all = owner;

    free(all->places);
    *all = (struct finder){0};
}

static int by_cost(const void *a, const void *b, void *context)
{
    const struct line *x = a, *y = b;
    const struct memory_sums *total = context;
    uint64_t cost = total->timed != 0 ? x->cost : x->estimated;
    uint64_t other = total->timed != 0 ? y->cost : y->estimated;

    if (cost != other)
        return cost > other ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static uint32_t pid_of(const struct trace_info *info, uint64_t id)
{
    uint32_t process = memory_lines_process(id);

    return process < info->processes.count ? info->processes.all[process].pid : HR_FIRST_PID;
}

/* Moves the shared lines that cost most to the first places, in this order.  Returns how many. */
static uint32_t choose(struct finder *f, uint64_t *shared)
{
    struct line *places = f->places;
    uint32_t count = 0;
    bool full = false;

    for (uint32_t i = 0; places != NULL && i >> f->bits == 0; i++) {
        if (places[i].records == 0 || !places[i].shared || !places[i].written)
            continue;
        ++*shared;
        if (full && by_cost(&places[i], &places[MEMORY_LINES_MAX - 1], &f->total) > 0)
            continue;
        places[count++] = places[i];
        if (count == 2 * MEMORY_LINES_MAX) {
            qsort_r(places, count, sizeof places[0], by_cost, &f->total);
            count = MEMORY_LINES_MAX;
            full = true;
        }
    }
    if (count != 0)
        qsort_r(places, count, sizeof places[0], by_cost, &f->total);
    return count < MEMORY_LINES_MAX ? count : MEMORY_LINES_MAX;
}

int memory_lines_find(struct memory_lines *lines, struct memory_lines_known *known, uint32_t *count)
{
    struct finder all = {0};
    const struct memory_team team = {.owner = &all,
                                     .join = join,
                                     .samples = take_samples,
                                     .take = take,
                                     .leave = leave,
                                     .restart = restart};
    int error = memory_accesses_walk(lines->accesses, &team);
    const struct trace_info *info = lines->accesses->names.info;
    uint64_t shared = 0;

    lines->total = all.total;
    lines->records = all.records;
    lines->without = all.without;
    *count = error == 0 ? choose(&all, &shared) : 0;
    for (uint32_t i = 0; i < *count; i++)
        known[i] = (struct memory_lines_known){.id = all.places[i].id,
                                               .pid = pid_of(info, all.places[i].id),
                                               .records = all.places[i].records};
    lines->left_out = all.left_out + shared - *count;
    free(all.places);
    return error;
}
