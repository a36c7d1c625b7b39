/* How long probed functions and requests took: distributions, and single calls for the page.
 *
 * A walk of its own after that of the model.  Memory is bounded: of each function the longest calls
 * and a sample of the others are kept, of a bounded number of functions.
 */
#pragma once

#include "host/draw/latency_values.h"
#include "host/follow/follow.h"
#include "host/view/data/view_columns.h"

#define VIEW_CALLS_ROWS_MAX 2048u /* functions; calls of further ones are counted only */
#define VIEW_CALLS_SHOWN_MAX 500u /* of the page */
#define VIEW_CALLS_DOTTED_MAX 100u /* those with single calls */
#define VIEW_CALLS_WORST 128u
#define VIEW_CALLS_SAMPLED 384u
#define VIEW_CALLS_BINS 256u /* of a histogram: four for each power of two */

struct view_dot { /* a call, or a request */
    uint64_t time; /* ticks since the program's start */
    uint64_t ticks;
    uint64_t value; /* first argument, or the request's number */
    uint64_t spent[LATENCY_SPENT]; /* of a request: worked, then blocked */
    uint32_t tid, cpu;
};

struct view_call_row { /* of a function, or of all requests */
    uint32_t function; /* TRACE_POINTS_NONE: requests */
    char *label, *object; /* its name and file; owned; NULL: requests */
    struct latency_values ticks;
    uint64_t left, unknown, own;
    uint64_t spent[LATENCY_SPENT];
    uint64_t bins[VIEW_CALLS_BINS];
    struct view_dot *worst, *sampled; /* owned */
    uint32_t worst_count, sampled_count;
    uint32_t least; /* of the worst ones: the shortest */
    uint64_t tail;
};

struct view_calls { /* all zero at first */
    const struct trace_info *info; /* of the model's scan, which has been read */
    const struct trace_points *points; /* of the walk, until it ends */
    struct view_call_row **rows; /* owned; the worst tail first after view_calls_read */
    uint32_t count;
    uint32_t *row_of; /* of each function, number + 1; owned */
    uint32_t function_count; /* when the walk began */
    struct view_call_row *requests; /* one of the rows, or NULL */
    struct latency_values_pool pool;
    uint64_t refused; /* calls of functions that found no room, and what follow_sums has */
    uint64_t random;
};

/* Reads the trace if it has probes or `requests`.  Returns 0 or -errno. */
int view_calls_read(struct view_calls *calls, const struct trace_scan *scan, bool requests);
void view_calls_free(struct view_calls *calls);

/* Puts rows and dots into a group of columns. */
void view_calls_pack(struct view_calls *calls, struct view_columns *columns);
