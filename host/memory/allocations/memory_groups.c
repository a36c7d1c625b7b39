/* Adds allocations to their rows. */
#include "host/memory/allocations/memory_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/base/array.h"
#include "lib/hash.h"

#define FIRST_BITS 10u

void memory_groups_init(struct memory_groups *rows, const struct trace_scan *scan,
                        enum memory_by by)
{
    *rows = (struct memory_groups){.by = by};
    memory_heap_init(&rows->heap, scan);
}

void memory_groups_free(struct memory_groups *rows)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        latency_values_free(&rows->pool, &rows->all[i]->lifetimes);
        free(rows->all[i]);
    }
    free(rows->all);
    free(rows->index);
    free(rows->of_site);
    memory_mapped_free(&rows->mapped);
    memory_heap_free(&rows->heap);
    *rows = (struct memory_groups){0};
}

static uint32_t place_of(const struct memory_groups *rows, uint64_t key)
{
    uint32_t at = hash_place(key, rows->bits);

    while (rows->index[at] != 0 && rows->all[rows->index[at] - 1]->key != key)
        at = (at + 1) & ((1u << rows->bits) - 1);
    return at;
}

static int make_room(struct memory_groups *rows)
{
    uint32_t bits = rows->index == NULL ? FIRST_BITS : rows->bits + 1;
    uint32_t *index;

    if (rows->index != NULL && 2 * rows->count < 1u << rows->bits)
        return 0;
    index = calloc((size_t)1 << bits, sizeof *index);
    if (index == NULL)
        return -ENOMEM;
    free(rows->index);
    rows->index = index;
    rows->bits = bits;
    for (uint32_t i = 0; i < rows->count; i++)
        rows->index[place_of(rows, rows->all[i]->key)] = i + 1;
    return 0;
}

/* Returns the number + 1 of the row with a key; 0: there is none, and no room. */
static uint32_t row_of(struct memory_groups *rows, uint64_t key, uint32_t site,
                       const struct memory_where *where)
{
    struct memory_group *row;
    uint32_t at;

    if (make_room(rows) != 0)
        return 0;
    at = place_of(rows, key);
    if (rows->index[at] != 0)
        return rows->index[at];
    if (rows->count == MEMORY_GROUPS_MAX ||
        array_grow(&rows->all, rows->count, sizeof(void *)) != 0 ||
        (row = calloc(1, sizeof *row)) == NULL)
        return 0;
    row->key = key;
    row->site = site;
    row->where = *where;
    rows->all[rows->count++] = row;
    rows->index[at] = rows->count;
    return rows->count;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return text != NULL ? hash_bytes(hash, text, strlen(text) + 1) : hash_mix(hash, 1);
}

/* What the sites of one row have in common. */
static uint64_t key_of(const struct memory_groups *rows, uint32_t site,
                       const struct memory_where *where)
{
    uint64_t key = hash_text(HASH_BYTES_START, where->object);

    if (rows->by == MEMORY_BY_STACK)
        return site;
    if (where->function == NULL && where->file == NULL)
        return hash_mix(key, where->address);
    if (rows->by != MEMORY_BY_LINE)
        key = hash_text(key, where->function);
    if (rows->by != MEMORY_BY_FUNCTION)
        key = hash_mix(hash_text(key, where->file), where->line);
    return key;
}

/* Returns the row of a site, which is looked up once. */
static uint32_t row_of_site(struct memory_groups *rows, uint32_t site)
{
    struct memory_where where;
    uint32_t *grown;

    if (site >= rows->site_count) {
        uint32_t count = site + 1 + site / 2;

        grown = realloc(rows->of_site, count * sizeof *grown);
        if (grown == NULL)
            return 0;
        memset(grown + rows->site_count, 0, (count - rows->site_count) * sizeof *grown);
        rows->of_site = grown;
        rows->site_count = count;
    }
    if (rows->of_site[site] != 0)
        return rows->of_site[site];
    memory_where_find(&where, rows->symbols, rows->stacks,
                      memory_sites_at(&rows->heap.sites, site));
    rows->of_site[site] = row_of(rows, key_of(rows, site, &where), site, &where);
    return rows->of_site[site];
}

static struct memory_group *find(struct memory_groups *rows, const struct memory_object *object)
{
    const struct memory_where nowhere = {0};
    uint32_t number =
        rows->by == MEMORY_BY_SIZE     ? row_of(rows, object->bytes, object->site, &nowhere)
        : rows->by == MEMORY_BY_THREAD ? row_of(rows, object->tid, object->site, &nowhere)
                                       : row_of_site(rows, object->site);

    return number != 0 ? rows->all[number - 1] : NULL;
}

/* Before a row changes: what it had at the program's latest peak is what it has now, unless it has
 * changed since. */
static void note_peak(const struct memory_groups *rows, struct memory_group *row)
{
    if (row->peaks == rows->totals.peaks)
        return;
    row->peaks = rows->totals.peaks;
    row->at_peak = row->totals.live;
    row->at_peak_bytes = row->totals.live_bytes;
}

static int allocated(void *context, uint32_t pid, const struct memory_object *object)
{
    struct memory_groups *rows = context;
    struct memory_group *row = find(rows, object);

    (void)pid;
    if (row != NULL) {
        note_peak(rows, row);
        memory_totals_allocated(&row->totals, object);
    }
    rows->refused += row == NULL;
    memory_totals_allocated(&rows->totals, object);
    return 0;
}

static int freed(void *context, uint32_t /*pid*/, const struct memory_object *object, uint64_t time)
{
    struct memory_groups *rows = context;
    const struct trace_info *info = &rows->heap.scan->info;
    struct memory_group *row;
    uint64_t lifetime = 0;

    memory_totals_freed(&rows->totals, object);
    row = find(rows, object);
    if (row == NULL)
        return 0;
    note_peak(rows, row);
    memory_totals_freed(&row->totals, object);
    if (time > object->time)
        lifetime = trace_info_ns(info, time - object->time);
    row->brief += lifetime < MEMORY_GROUPS_SHORT_NS;
    return latency_values_add(&rows->pool, &row->lifetimes, lifetime);
}

static void left(void *context, uint32_t /*pid*/, const struct memory_object *object)
{
    struct memory_groups *rows = context;
    struct memory_group *row;

    memory_totals_left(&rows->totals, object);
    row = find(rows, object);
    if (row == NULL)
        return;
    note_peak(rows, row);
    memory_totals_left(&row->totals, object);
}

static int mapping(void *context, uint32_t pid, const struct hr_rec_mapping *record)
{
    struct memory_groups *rows = context;

    return memory_mapped_take(&rows->mapped, pid, record);
}

/* Frees that go wrong, but those that the C library makes itself: when a thread ends it frees what
 * it keeps for the thread, which counts as freed already. */
static void sum_strays(struct memory_groups *rows)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < rows->heap.stray_count; i++) {
        const struct memory_heap_stray *stray = &rows->heap.strays[i];
        struct memory_where where;

        if (stray->unknown + stray->twice == 0)
            continue;
        memory_where_find(&where, rows->symbols, rows->stacks,
                          memory_sites_at(&rows->heap.sites, i));
        if (memory_where_in_library(&where))
            continue;
        rows->unknown += stray->unknown;
        rows->twice += stray->twice;
        if (stray->twice > most) {
            most = stray->twice;
            rows->twice_at = where;
        }
    }
}

static void ended(void *context, uint32_t pid)
{
    struct memory_groups *rows = context;

    memory_mapped_end(&rows->mapped, pid);
}

int memory_groups_read(struct memory_groups *rows, struct trace_scan *scan)
{
    int error;

    rows->stacks = &scan->stacks;
    rows->heap.sink = (struct memory_heap_sink){.context = rows,
                                                .allocated = allocated,
                                                .freed = freed,
                                                .left = left,
                                                .ended = ended,
                                                .mapping = mapping};
    error = memory_heap_run(&rows->heap, scan, true);
    for (uint32_t i = 0; i < rows->count; i++)
        note_peak(rows, rows->all[i]);
    if (error == 0)
        sum_strays(rows);
    return error;
}

static uint64_t order_of(const struct memory_group *row, enum memory_order order)
{
    return order == MEMORY_ORDER_PEAK   ? row->at_peak_bytes
           : order == MEMORY_ORDER_LEFT ? row->totals.left_bytes
                                        : row->totals.bytes;
}

static int compare(const void *a, const void *b, void *context)
{
    const struct memory_group *x = *(struct memory_group *const *)a;
    const struct memory_group *y = *(struct memory_group *const *)b;
    enum memory_order order = *(const enum memory_order *)context;

    if (order_of(x, order) != order_of(y, order))
        return order_of(x, order) > order_of(y, order) ? -1 : 1;
    if (x->totals.count != y->totals.count)
        return x->totals.count > y->totals.count ? -1 : 1;
    return x->key < y->key ? -1 : x->key > y->key;
}

void memory_groups_sort(struct memory_groups *rows, enum memory_order order)
{
    if (rows->count != 0)
        qsort_r(rows->all, rows->count, sizeof(void *), compare, &order);
}
