/* Follows threads through their hits: which invocations are open, and where their time goes.
 *
 * Time that a thread does not run counts for what it waits for.  A system call's record comes when
 * it ends, so a wait is settled then, unless HR_REC_WAIT said it before.  Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/latency/latency_heap.h"
#include "host/latency/latency_order.h"
#include "host/scan/invocations.h"

enum latency_spent {
    LATENCY_ON_CPU,
    LATENCY_LOCKS, /* futexes, semaphores of System V, locks of files */
    LATENCY_CONDITIONS, /* condition variables, semaphores, barriers */
    LATENCY_JOINS, /* the end of a thread */
    LATENCY_IO,
    LATENCY_PAGES, /* of files, from the host */
    LATENCY_READY, /* waits for a CPU */
    LATENCY_SLEEP,
    LATENCY_OTHER, /* children, signals, or a wait that no system call explains */
    LATENCY_SPENT,
};

struct latency_holder { /* whom a thread waited for; host/latency/latency_holders.h */
    uint32_t tid; /* 0: unknown */
    uint32_t function; /* probed one in which it was when the wait began; TRACE_POINTS_NONE */
    bool works; /* for a request then, this one: */
    uint64_t request;
};

struct latency_wait { /* that has ended */
    uint64_t from, to; /* until its thread ran again; to 0: there is none */
    uint64_t ticks; /* of these it waited: it may have run, too */
    uint64_t ready; /* likewise, for a CPU after it was woken */
    uint64_t moment; /* at which it began: host/latency/latency_holders.h */
    uint64_t address; /* of a futex; 0: unknown */
    struct latency_block block; /* that holds it; 0 bytes: none is known */
    uint32_t tid; /* whose it is */
    uint32_t number; /* of the system call; UINT32_MAX: none is known */
    uint32_t joins; /* the thread for whose end it is; 0: none */
    enum latency_spent spent;
    struct latency_holder holder;
};

struct latency_entry { /* of an open invocation */
    uint64_t time;
    uint64_t callees; /* ticks in probed functions that it called */
    uint64_t callees_on_cpu; /* of these, on a CPU */
    uint64_t spent[LATENCY_SPENT]; /* by the thread until then */
    uint64_t counters[HR_EVENTS_MAX];
    uint64_t arguments[HR_PROBE_ARGUMENTS_MAX];
    uint32_t parent; /* function that called it; TRACE_POINTS_NONE */
    uint64_t mark; /* of who follows it */
};

struct latency_past { /* what a thread was in from a moment on */
    uint64_t moment;
    uint64_t request;
    uint32_t function;
    bool works;
};

#define LATENCY_PAST 128u

struct latency_work { /* of a thread for a request; of who follows it */
    struct latency_request *request; /* NULL: for none */
    struct latency_thread *next, *before; /* others that work for it */
    uint64_t since;
    uint64_t spent[LATENCY_SPENT]; /* by the thread until then */
};

struct latency_thread {
    uint32_t tid;
    bool away; /* it does not run */
    bool ended;
    uint8_t reason; /* why: HR_SWITCH_* */
    bool waits; /* HR_REC_WAIT said for what: */
    struct hr_rec_wait told;
    uint64_t woken; /* HR_REC_WAKE said when; 0: it did not */
    uint64_t since; /* away */
    uint64_t moment; /* at that time */
    struct latency_wait pending; /* until its system call's record comes */
    uint64_t spent[LATENCY_SPENT]; /* but for LATENCY_ON_CPU */
    struct invocations open;
    struct latency_entry entries[INVOCATIONS_MAX]; /* by slot */
    struct latency_past past[LATENCY_PAST]; /* the last of past_count, in a ring */
    uint64_t past_count;
    struct latency_wait lock; /* the last one for a futex; 0 ticks: there was none */
    uint64_t released; /* when it called futex after that; 0: it has not */
    bool works; /* it said that it works for this request: */
    uint64_t number_of_request;
    struct latency_work work;
    void *notes; /* of who follows it; freed by latency_threads_free */
};

struct latency_call { /* an invocation that returned */
    const struct latency_thread *thread;
    const struct latency_entry *entry;
    const struct trace_hit *hit; /* its return */
    uint32_t function;
    uint64_t ticks, own; /* duration; without that of probed callees */
    uint64_t own_on_cpu; /* of this, on a CPU */
    uint64_t spent[LATENCY_SPENT];
};

struct latency_follower { /* every function may be NULL */
    void *context;
    void (*entered)(void *context, struct latency_thread *thread, uint32_t slot);
    void (*returned)(void *context, const struct latency_call *call);
    /* Of an invocation's end nothing more is known. */
    void (*lost)(void *context, const struct latency_thread *thread, uint32_t slot,
                 enum invocations_end end);
    void (*waited)(void *context, struct latency_thread *thread, const struct latency_wait *wait);
    void (*request)(void *context, struct latency_thread *thread,
                    const struct hr_rec_request *request);
    void (*exited)(void *context, struct latency_thread *thread, uint64_t time);
    void (*loss)(void *context); /* of records: what is open is not known */
};

#define LATENCY_THREADS_MAX 8192u /* at a time */

struct latency_threads {
    const struct trace_info *info;
    struct latency_follower follower;
    struct latency_thread **all; /* hash table; owned */
    struct latency_thread *last; /* of the last hit */
    uint32_t count, bits;
    uint32_t event_count; /* of hits */
    uint64_t hits, reached; /* all, and those of places */
    uint64_t unknown; /* hits of points that the trace does not describe */
    uint64_t deep, strays; /* sums over threads that have gone */
    uint64_t moment; /* waits that have begun */
    struct latency_heap heap; /* in traces of one process */
    uint64_t refused; /* hits of threads beyond LATENCY_THREADS_MAX, or without memory */
    /* of the hit that is being taken */
    const struct trace_hit *hit;
    struct latency_thread *thread;
};

/* Returns 0 or -ENOMEM. */
int latency_threads_init(struct latency_threads *t, const struct trace_info *info);
void latency_threads_free(struct latency_threads *t);

/* A sink for latency_order_run. */
struct latency_sink latency_threads_sink(struct latency_threads *t);

/* After the last one: what is open ends, and the sums are complete. */
void latency_threads_finish(struct latency_threads *t);

/* Returns the function of its innermost invocation, or TRACE_POINTS_NONE. */
uint32_t latency_threads_innermost(const struct latency_thread *thread);

/* Returns what a thread that is there has, or NULL. */
struct latency_thread *latency_threads_find(struct latency_threads *t, uint32_t tid);
