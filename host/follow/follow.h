/* What happened to threads in a trace of probes, in the order of time: invocations of probed
 * functions, waits, and the requests that threads worked for.
 *
 * A walk of its own (host/latency/latency_order.h).  Memory is bounded, whatever the trace holds.
 * Never prints.
 */
#pragma once

#include "host/latency/latency_threads.h"

#define FOLLOW_NONE 0u /* numbers count from 1 */

struct follow_call { /* an invocation */
    uint64_t number; /* in the order of their beginnings */
    uint64_t outer; /* of the one around it on its stack, or FOLLOW_NONE */
    uint64_t request; /* that its thread worked for when it began, or FOLLOW_NONE */
    uint64_t start, end; /* ticks; the end of one that was left is when this was seen */
    uint64_t own; /* of one that returned, like the next four */
    uint64_t spent[LATENCY_SPENT];
    uint64_t counters[HR_EVENTS_MAX]; /* increments */
    uint64_t result;
    uint64_t arguments[HR_PROBE_ARGUMENTS_MAX];
    uint32_t tid, function;
    uint32_t cpu; /* on which it began */
    uint32_t depth; /* how many are around it */
    uint32_t stack; /* of the thread's stacks: 0, unless invocations on several are open */
    enum invocations_end how;
};

struct follow_wait { /* that has ended */
    uint64_t from, to; /* ticks; until its thread ran again */
    uint64_t ticks; /* of these it waited: it may have run, too */
    uint64_t ready; /* likewise, for a CPU after it was woken */
    uint64_t address; /* of a futex; 0: unknown */
    uint64_t call; /* innermost invocation of the thread, or FOLLOW_NONE */
    uint64_t request; /* that the thread works for, or FOLLOW_NONE */
    uint64_t woken; /* when it was woken; about when, if the trace does not have it */
    uint32_t tid;
    uint32_t number; /* of the system call; HR_WAIT_NO_CALL: none is known */
    uint32_t waker; /* 0: unknown */
    uint32_t joins; /* the thread for whose end it is; 0: none */
    enum latency_spent spent;
};

struct follow_request {
    uint64_t serial; /* in the order of their beginnings */
    uint64_t number; /* the program's */
    uint64_t start, end; /* ticks */
    uint64_t worked, blocked; /* ticks: of all threads; without one */
    uint32_t tid, end_tid; /* which began and ended it */
    bool begun, ended; /* the trace has it */
};

struct follow_span { /* of a request */
    uint64_t serial, number;
    uint64_t from, to;
    uint32_t tid; /* that worked for it; 0: it waited for a thread to join it */
};

/* A value other than 0 ends the walk and is its result; every function may be NULL. */
struct follow_visitor {
    void *context;
    /* The trace has said what is probed; `info` lasts until the walk ends. */
    int (*begin)(void *context, const struct trace_info *info);
    int (*entered)(void *context, const struct follow_call *call); /* ... which has no end yet */
    int (*ended)(void *context, const struct follow_call *call);
    int (*waited)(void *context, const struct follow_wait *wait);
    int (*requested)(void *context, const struct follow_request *request); /* it begins */
    int (*answered)(void *context, const struct follow_request *request); /* it ends */
    int (*worked)(void *context, const struct follow_span *span);
};

struct follow_sums { /* what there was */
    uint64_t calls, waits, requests;
    uint64_t refused; /* hits, waits and requests that found no room */
};

/* Walks over what is selected of the trace that another scan has open.  Returns 0, -errno, or what
 * the visitor returned. */
int follow_run(const struct trace_scan *of, const struct follow_visitor *visitor,
               struct follow_sums *sums);
