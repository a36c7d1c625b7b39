/* Follows threads through their hits: which invocations are open, and where their time goes.
 *
 * Time that a thread does not run counts for what it waits for.  A system call's record comes when
 * it ends, so a wait is settled then, unless HR_REC_WAIT said it before.  Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/latency/latency_order.h"
#include "host/scan/invocations.h"

enum latency_spent {
    LATENCY_ON_CPU,
    LATENCY_LOCKS, /* futexes, semaphores, locks of files */
    LATENCY_IO,
    LATENCY_READY, /* waits for a CPU */
    LATENCY_SLEEP,
    LATENCY_OTHER, /* children, signals, or a wait that no system call explains */
    LATENCY_SPENT,
};

struct latency_wait { /* that has ended */
    uint64_t from, to;
    uint64_t ticks; /* of these it waited: it may have run, too */
    uint64_t address; /* of a futex; 0: unknown */
    uint32_t number; /* of the system call; UINT32_MAX: none is known */
    enum latency_spent spent;
};

struct latency_entry { /* of an open invocation */
    uint64_t time;
    uint64_t callees; /* ticks in probed functions that it called */
    uint64_t spent[LATENCY_SPENT]; /* by the thread until then */
    uint64_t counters[HR_EVENTS_MAX];
    uint64_t arguments[HR_PROBE_ARGUMENTS_MAX];
    uint32_t parent; /* function that called it; TRACE_POINTS_NONE */
    uint32_t mark; /* for who follows it: that of its invocations visitor */
};

struct latency_thread {
    uint32_t tid;
    bool away; /* it does not run */
    bool ended;
    uint8_t reason; /* why: HR_SWITCH_* */
    bool waits; /* HR_REC_WAIT said for what: */
    uint32_t number;
    uint64_t address;
    uint64_t since; /* away */
    struct latency_wait pending; /* until its system call's record comes; 0 ticks: none */
    uint64_t spent[LATENCY_SPENT]; /* but for LATENCY_ON_CPU */
    struct invocations open;
    struct latency_entry entries[INVOCATIONS_MAX]; /* by slot */
    void *notes; /* of who follows it; freed by latency_threads_free */
};

struct latency_call { /* an invocation that returned */
    const struct latency_thread *thread;
    const struct latency_entry *entry;
    const struct trace_hit *hit; /* its return */
    uint32_t function;
    uint64_t ticks, own; /* duration; without that of probed callees */
    uint64_t spent[LATENCY_SPENT];
};

struct latency_follower { /* every function may be NULL, but `returned` and `lost` */
    void *context;
    void (*entered)(void *context, struct latency_thread *thread, uint32_t slot);
    void (*returned)(void *context, const struct latency_call *call);
    /* Of an invocation's end nothing more is known. */
    void (*lost)(void *context, const struct latency_thread *thread, uint32_t slot,
                 enum invocations_end end);
    void (*waited)(void *context, struct latency_thread *thread, const struct latency_wait *wait);
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
    uint64_t deep, again, strays; /* sums over threads that have gone */
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

/* Returns what a thread has spent since an entry, `ticks` in all. */
void latency_threads_spent(const struct latency_thread *thread, const struct latency_entry *entry,
                           uint64_t ticks, uint64_t spent[LATENCY_SPENT]);
