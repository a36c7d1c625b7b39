/* Interns rows and sorts them. */
#include "host/report/rows.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/hash.h"

#define INDEX_BITS 17u /* twice the number of rows, so at most half full */

int rows_init(struct rows *rows)
{
    *rows = (struct rows){0};
    rows->all = calloc(ROWS_MAX, sizeof rows->all[0]);
    rows->index = calloc(1u << INDEX_BITS, sizeof rows->index[0]);
    rows->stamps = calloc(ROWS_MAX, sizeof rows->stamps[0]);
    return rows->all != NULL && rows->index != NULL && rows->stamps != NULL ? 0 : -ENOMEM;
}

void rows_free(struct rows *rows)
{
    free(rows->all);
    free(rows->index);
    free(rows->stamps);
    *rows = (struct rows){0};
}

uint32_t rows_number(struct rows *rows, uint32_t group, uint32_t place)
{
    uint64_t key = (uint64_t)group << 32 | place;
    uint32_t i = hash_place(key, INDEX_BITS);
    struct row *row;

    for (; rows->index[i] != 0; i = (i + 1) & ((1u << INDEX_BITS) - 1)) {
        row = &rows->all[rows->index[i] - 1];
        if (row->group == group && row->place == place)
            return rows->index[i] - 1;
    }
    if (rows->count + 1 >= ROWS_MAX) { /* the last row is for everything that does not fit */
        rows->count = ROWS_MAX;
        rows->full = true;
        return ROWS_MAX - 1;
    }
    row = &rows->all[rows->count++];
    row->group = group;
    row->place = place;
    rows->index[i] = rows->count;
    return rows->count - 1;
}

void rows_add(struct rows_count *count, uint64_t samples, const uint64_t *sums, uint32_t events)
{
    count->samples += samples;
    for (uint32_t i = 0; i < events; i++)
        count->sums[i] += sums[i];
}

struct order {
    int event;
    bool total;
    int (*before)(const struct row *a, const struct row *b, void *context);
    void *context;
};

static int descending(uint64_t left, uint64_t right)
{
    return left > right ? -1 : left < right;
}

static int compare(const void *a, const void *b, void *context)
{
    const struct row *x = a, *y = b;
    const struct order *o = context;
    const struct rows_count *left = o->total ? &x->total : &x->self;
    const struct rows_count *right = o->total ? &y->total : &y->self;
    int result = descending(rows_weight(left, o->event), rows_weight(right, o->event));

    if (result == 0)
        result = descending(left->samples, right->samples);
    return result != 0 ? result : o->before(x, y, o->context);
}

void rows_sort(struct rows *rows, int event, bool total,
               int (*before)(const struct row *a, const struct row *b, void *context),
               void *context)
{
    struct order order = {event, total, before, context};

    qsort_r(rows->all, rows->count, sizeof rows->all[0], compare, &order);
}
