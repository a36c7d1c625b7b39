/* The HR_REC_REQUEST records of a trace in the order of time over all CPUs.  Bounded. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lib/trace_reader.h"

#define FOLLOW_REQUESTS_MAX (4u << 20) /* records; a request has two or more */

struct follow_requests { /* all zero at first */
    struct follow_step {
        struct hr_rec_request record;
        uint64_t order; /* in the file */
    } * all; /* owned */
    size_t count;
    uint64_t left_out; /* records beyond the bound */
    uint64_t waits; /* HR_REC_WAIT records, which are not kept */
};

void follow_requests_free(struct follow_requests *r);

/* Takes a record of a DATA chunk of any type.  Returns 0 or -ENOMEM. */
int follow_requests_take(struct follow_requests *r, const struct trace_record *record);

/* After the last one. */
void follow_requests_sort(struct follow_requests *r);
