/* Gathers the records of requests. */
#include "host/follow/follow_requests.h"

#include <errno.h>
#include <stdlib.h>

#include "host/base/array.h"

void follow_requests_free(struct follow_requests *r)
{
    free(r->all);
    *r = (struct follow_requests){0};
}

int follow_requests_take(struct follow_requests *r, const struct trace_record *record)
{
    struct follow_step *step;

    r->waits += record->type == HR_REC_WAIT;
    if (record->type != HR_REC_REQUEST)
        return 0;
    if (r->count == FOLLOW_REQUESTS_MAX) {
        r->left_out++;
        return 0;
    }
    if (array_grow(&r->all, r->count, sizeof r->all[0]) != 0)
        return -ENOMEM;
    step = &r->all[r->count];
    if (trace_body(record, &step->record, sizeof step->record, NULL, NULL)) {
        step->order = r->count;
        r->count++;
    }
    return 0;
}

static int by_time(const void *a, const void *b)
{
    const struct follow_step *x = a, *y = b;

    if (x->record.time != y->record.time)
        return x->record.time < y->record.time ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

void follow_requests_sort(struct follow_requests *r)
{
    if (r->count != 0)
        qsort(r->all, r->count, sizeof r->all[0], by_time);
}
