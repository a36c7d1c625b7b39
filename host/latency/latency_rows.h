/* Distributions of invocations: one row for each function, and whatever else they are told apart
 * by. Never prints. */
#pragma once

#include "host/draw/latency_values.h"
#include "host/latency/latency_threads.h"

enum latency_by {
    LATENCY_BY_FUNCTION,
    LATENCY_BY_CALLER,
    LATENCY_BY_THREAD,
    LATENCY_BY_PROCESS,
    LATENCY_BY_REQUEST, /* no rows: host/latency/latency_requests.h */
};

enum latency_sort { /* largest first, but for names */
                    LATENCY_SORT_TAIL, /* p99.9 less median */
                    LATENCY_SORT_CALLS,
                    LATENCY_SORT_MEDIAN,
                    LATENCY_SORT_P90,
                    LATENCY_SORT_P99,
                    LATENCY_SORT_P999,
                    LATENCY_SORT_MAX,
                    LATENCY_SORT_TOTAL,
                    LATENCY_SORT_OWN,
                    LATENCY_SORT_NAME,
};

struct latency_row {
    uint32_t function;
    uint32_t key; /* caller's function, tid or pid; 0 by function */
    uint64_t left, unknown; /* invocations whose end is not a return */
    uint64_t own; /* ticks; saturates, like the next ones */
    uint64_t spent[LATENCY_SPENT];
    struct latency_values ticks;
    struct latency_values *counters; /* one for each event, or NULL; owned */
    double order; /* what it is sorted by, */
    uint64_t longest; /* and then */
};

#define LATENCY_ROWS_MAX (1u << 20)

struct latency_rows {
    const struct trace_info *info;
    enum latency_by by;
    bool with_counters;
    uint32_t event_count;
    uint32_t only; /* the one function that counts; TRACE_POINTS_NONE: all */
    struct latency_row **all; /* owned; in their order after latency_rows_sort */
    uint32_t count, bits;
    uint32_t *index; /* hash table of numbers + 1; owned */
    struct latency_values_pool pool;
    uint64_t refused; /* invocations that found no row */
    int error; /* -ENOMEM */
};

int latency_rows_init(struct latency_rows *rows, const struct trace_info *info);
void latency_rows_free(struct latency_rows *rows);

/* Returns what tells an invocation's row from others of its function. */
uint32_t latency_rows_key(enum latency_by by, const struct trace_info *info,
                          const struct latency_thread *thread, const struct latency_entry *entry);

/* Of latency_follower. */
void latency_rows_returned(void *context, const struct latency_call *call);
void latency_rows_lost(void *context, const struct latency_thread *thread, uint32_t slot,
                       enum invocations_end end);

void latency_rows_sort(struct latency_rows *rows, enum latency_sort sort);
