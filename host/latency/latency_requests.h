/* Requests: from begin to end, over all threads that work for them.  Never prints.
 *
 * A request is known by its number and the process that began it; a thread of another process that
 * has no such request means the one that began last.  Everything may be a lie.
 */
#pragma once

#include "host/latency/latency_tail.h"

#define LATENCY_REQUEST_CALL 16u /* kinds of steps, after those of enum hr_request_kind: */
#define LATENCY_REQUEST_OPEN 17u /* a call that has not returned when the thread leaves */
#define LATENCY_REQUEST_WAIT 18u

struct latency_request_step {
    uint64_t from, to;
    uint32_t tid;
    uint32_t kind;
    uint32_t function; /* of a call */
    struct latency_wait wait;
};

struct latency_request {
    uint64_t number;
    uint64_t begin, end;
    uint64_t spent[LATENCY_SPENT]; /* by all of its threads */
    uint64_t queued; /* without a thread */
    uint64_t alone; /* since then without a thread */
    struct latency_thread *threads; /* that work for it now */
    struct latency_request *next, *before; /* of the same place in the table */
    struct latency_request_step *steps; /* owned */
    uint32_t step_count, pid;
    uint32_t cut; /* steps that are missing */
    uint32_t thread_count; /* that have begun or joined it, each as often as it did */
};

#define LATENCY_REQUESTS_OPEN_MAX (1u << 20)
#define LATENCY_REQUEST_STEPS_MAX 1024u /* of one */
#define LATENCY_STEPS_OPEN_MAX (1u << 19) /* of all that are open */
#define LATENCY_SLOWEST_MAX 1000u

struct latency_requests {
    const struct trace_info *info;
    /* What is wanted. */
    bool keeps; /* the slowest ones, with their steps */
    bool has_only;
    uint64_t only; /* the number of those that count */
    uint32_t wanted; /* how many are kept */
    bool tails; /* waits for the tail, which has begun */
    /* What was found. */
    struct latency_request **table; /* open ones by number; owned */
    uint32_t open_count, step_count;
    struct latency_request **kept; /* the slowest first; owned */
    uint32_t kept_count;
    struct latency_values_pool pool;
    struct latency_values ticks;
    uint64_t spent[LATENCY_SPENT]; /* of all that have ended; saturate, as the next one */
    uint64_t queued;
    struct latency_tail tail;
    uint64_t unended; /* begun, but not ended */
    uint64_t unknown; /* records are missing while they were open */
    uint64_t strays; /* ends without a begin */
    uint64_t stray_joins; /* joins of what is not open */
    uint64_t refused; /* begun when there was no room */
    int error; /* -ENOMEM */
};

/* Returns 0 or -ENOMEM.  What is wanted, and the tail, stay. */
int latency_requests_init(struct latency_requests *r, const struct trace_info *info);
void latency_requests_free(struct latency_requests *r);

/* What follows the threads. */
struct latency_follower latency_requests_follower(struct latency_requests *r);

/* After the last record: what is open has not ended. */
void latency_requests_finish(struct latency_requests *r);

/* Reads the trace a second time for what the longest did.  Returns 0 or -errno. */
int latency_requests_read_tail(struct latency_requests *r, const struct trace_scan *scan);
