/* What is known of each thread: when and why it is away, and which request it works for. */
#pragma once

#include "host/follow/follow.h"

#define FOLLOW_THREADS_MAX 65536u /* at a time */

struct follow_thread {
    uint32_t tid; /* 0: a free place */
    bool ended;
    bool away; /* it does not run */
    bool waits; /* HR_REC_WAIT said for what: */
    uint8_t reason; /* why it is away: HR_SWITCH_* */
    struct hr_rec_wait told;
    uint64_t woken; /* HR_REC_WAKE said when; 0: it did not */
    uint64_t since; /* away */
    struct follow_wait pending; /* until it is known what for; to 0: none */
    uint64_t innermost; /* number of its innermost invocation */
    uint32_t function; /* its function, or TRACE_POINTS_NONE */
    uint64_t serial, request; /* what it works for; 0: nothing; the program's number of that */
    uint64_t working_since;
    uint32_t next, before; /* tids of others that work for it; 0: none */
    uint32_t losses; /* those of the table when it was looked at last */
    uint64_t last_call, last_futex; /* when it made its latest system calls */
};

struct follow_threads { /* all zero at first, but points */
    const struct trace_points *points;
    struct follow_thread *all; /* hash table; owned */
    uint32_t count, bits;
    uint32_t ended; /* of these, about */
    uint32_t losses; /* so far */
    uint32_t last; /* place of the one found last, in the table */
    uint64_t refused; /* threads that found no room */
};

void follow_threads_free(struct follow_threads *t);

/* Returns a thread, valid until the next call of follow_threads_get; NULL: it is not known. */
struct follow_thread *follow_threads_find(struct follow_threads *t, uint32_t tid);

/* Likewise, and makes it known; NULL: no room, or the number is 0. */
struct follow_thread *follow_threads_get(struct follow_threads *t, uint32_t tid);

/* Called for each wait that has ended, when it is known what for. */
typedef void follow_threads_waited(void *context, const struct follow_wait *wait);

/* Take what happens to threads. */
void follow_threads_switch(struct follow_threads *t, const struct hr_rec_switch *change,
                           follow_threads_waited *waited, void *context);
void follow_threads_call(struct follow_threads *t, const struct hr_rec_syscall *call,
                         follow_threads_waited *waited, void *context);
void follow_threads_wait(struct follow_threads *t, const struct hr_rec_wait *wait,
                         follow_threads_waited *waited, void *context);
void follow_threads_wake(struct follow_threads *t, const struct hr_rec_wake *wake);
void follow_threads_gap(struct follow_threads *t, const struct hr_rec_gap *gap);
/* It runs. */
void follow_threads_hit(struct follow_thread *thread, follow_threads_waited *waited, void *context);
/* Something is missing in the trace: what they waited for is not known. */
void follow_threads_loss(struct follow_threads *t);
