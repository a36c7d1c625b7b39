/* What the longest of many did with their time: for what they waited, and for whom.  Never prints.
 */
#pragma once

#include "host/latency/latency_rows.h"

#define LATENCY_BLAMES_MAX 1024u

struct latency_blame { /* waits that have all but their times in common */
    struct latency_wait wait; /* the longest one */
    uint64_t ticks; /* of all */
};

#define LATENCY_FUNCTIONS_MAX 64u

struct latency_functions { /* ticks on a CPU in functions, without those in probed callees */
    uint32_t count;
    struct latency_function {
        uint32_t function;
        uint64_t ticks;
    } all[LATENCY_FUNCTIONS_MAX];
};

/* Adds ticks; of more functions than there is room for, the first ones are kept. */
void latency_functions_add(struct latency_functions *functions, uint32_t function, uint64_t ticks);

struct latency_tail {
    uint64_t above; /* what takes more ticks belongs to it */
    bool longest; /* that is the longest, not what is above the 99th percentile */
    uint64_t calls, ticks; /* the ticks saturate, like the next ones */
    uint64_t spent[LATENCY_SPENT];
    uint64_t queued; /* of requests: ticks without a thread */
    struct latency_blame *blames; /* owned */
    uint32_t blame_count;
    struct latency_functions functions; /* in which the calls computed, themselves included */
};

void latency_tail_free(struct latency_tail *tail);

/* Frees it.  Returns the one that it blames most; 0 ticks: there is none. */
struct latency_blame latency_tail_take_longest(struct latency_tail *tail);

/* Begins: takes what is longer than the 99th percentile, or if nothing is, the longest. */
void latency_tail_begin(struct latency_tail *tail, struct latency_values *ticks);

/* Adds a call of the tail, and of its waits one that took `ticks` within it.  0 or -ENOMEM. */
void latency_tail_call(struct latency_tail *tail, uint64_t ticks,
                       const uint64_t spent[LATENCY_SPENT]);
int latency_tail_wait(struct latency_tail *tail, const struct latency_wait *wait, uint64_t ticks);

#define LATENCY_TAILS_MAX 3u

/* The tails of those rows whose longest call is furthest above the median. */
struct latency_tails {
    struct latency_tail_row {
        struct latency_row *row; /* of the rows */
        struct latency_tail tail;
    } rows[LATENCY_TAILS_MAX];
    uint32_t count;
    enum latency_by by;
    struct latency_threads threads;
    int error;
};

/* Chooses rows, and reads the trace a second time for what is in their tails.  Returns 0 or -errno.
 */
int latency_tails_read(struct latency_tails *tails, const struct latency_rows *rows,
                       const struct trace_scan *scan);
void latency_tails_free(struct latency_tails *tails);
