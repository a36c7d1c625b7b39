/* Follows threads through switches and system calls; as host/latency/latency_threads.c does for
 * those of which functions are probed. */
#include "host/follow/follow_threads.h"

#include <asm/unistd_64.h>
#include <stdlib.h>

#include "host/latency/latency_waits.h"

#define FIRST_BITS 8u
#define FORGOTTEN_LEAST (FOLLOW_THREADS_MAX / 8) /* so many at a time */

void follow_threads_free(struct follow_threads *t)
{
    free(t->all);
    *t = (struct follow_threads){0};
}

static uint32_t place_of(const struct follow_threads *t, uint32_t tid)
{
    uint32_t at = tid * 2654435769u >> (32 - t->bits);

    while (t->all[at].tid != 0 && t->all[at].tid != tid)
        at = (at + 1) & ((1u << t->bits) - 1);
    return at;
}

/* Makes the table larger, or forgets threads that have ended. */
static int make_room(struct follow_threads *t)
{
    struct follow_threads old = *t;
    uint32_t places = old.all != NULL ? 1u << old.bits : 0;

    if (t->count >= FOLLOW_THREADS_MAX && t->ended < FORGOTTEN_LEAST)
        return -1;
    if (old.all == NULL)
        t->bits = FIRST_BITS;
    else if (t->count < FOLLOW_THREADS_MAX)
        t->bits++;
    t->all = calloc(1u << t->bits, sizeof t->all[0]);
    if (t->all == NULL) {
        *t = old;
        return -1;
    }
    t->count = t->last = t->ended = 0;
    for (uint32_t i = 0; i < places; i++)
        if (old.all[i].tid != 0 && (old.count < FOLLOW_THREADS_MAX || !old.all[i].ended)) {
            t->all[place_of(t, old.all[i].tid)] = old.all[i];
            t->ended += old.all[i].ended;
            t->count++;
        }
    free(old.all);
    return t->count < FOLLOW_THREADS_MAX ? 0 : -1;
}

/* What it waited for, and in what, is not known after a loss. */
static void forget_past(struct follow_thread *thread, uint32_t losses)
{
    thread->losses = losses;
    thread->away = thread->waits = false;
    thread->pending.to = thread->woken = 0;
    thread->innermost = FOLLOW_NONE;
    thread->function = TRACE_POINTS_NONE;
}

struct follow_thread *follow_threads_find(struct follow_threads *t, uint32_t tid)
{
    struct follow_thread *thread;

    if (t->all == NULL || tid == 0)
        return NULL;
    if (t->all[t->last].tid != tid)
        t->last = place_of(t, tid);
    thread = &t->all[t->last];
    if (thread->tid != tid)
        return NULL;
    if (thread->losses != t->losses)
        forget_past(thread, t->losses);
    return thread;
}

struct follow_thread *follow_threads_get(struct follow_threads *t, uint32_t tid)
{
    struct follow_thread *thread = follow_threads_find(t, tid);

    if (thread != NULL || tid == 0)
        return thread;
    if ((t->all == NULL || 2 * t->count >= 1u << t->bits || t->count >= FOLLOW_THREADS_MAX) &&
        make_room(t) != 0) {
        t->refused++;
        return NULL;
    }
    t->last = place_of(t, tid);
    t->all[t->last].tid = tid;
    t->all[t->last].losses = t->losses;
    t->all[t->last].function = TRACE_POINTS_NONE;
    t->count++;
    return &t->all[t->last];
}

/* Of the wait that has ended it is known what for. */
static void settle(struct follow_thread *thread, enum latency_spent spent,
                   follow_threads_waited *waited, void *context)
{
    if (thread->pending.to == 0)
        return;
    thread->pending.spent = spent;
    waited(context, &thread->pending);
    thread->pending.to = 0;
}

/* No system call explains it. */
static void settle_rest(struct follow_thread *thread, follow_threads_waited *waited, void *context)
{
    settle(thread, thread->pending.spent, waited, context);
}

/* When a waker woke a thread that waited since `from`, as far as the trace tells: in its latest
 * system call, or before it left its CPU. */
static uint64_t woken_at(struct follow_threads *t, uint32_t waker, bool futex, uint64_t from,
                         uint64_t to)
{
    const struct follow_thread *thread = follow_threads_find(t, waker);
    uint64_t call, time = to;

    if (thread == NULL)
        return to;
    call = futex ? thread->last_futex : thread->last_call;
    if (call > from)
        time = call;
    else if (thread->away && thread->since > from)
        time = thread->since;
    return time < to ? time : to;
}

/* Begins a wait, unless the system call has had one: several are one. */
static struct follow_wait *pend(struct follow_thread *thread, uint64_t from,
                                enum latency_spent spent)
{
    struct follow_wait *wait = &thread->pending;

    if (wait->to == 0)
        *wait = (struct follow_wait){.tid = thread->tid,
                                     .from = from,
                                     .call = thread->innermost,
                                     .request = thread->serial,
                                     .number = HR_WAIT_NO_CALL,
                                     .spent = spent};
    return wait;
}

static void add_pending(struct follow_thread *thread, uint64_t time, uint32_t waker, uint64_t woken,
                        bool known)
{
    struct follow_wait *wait = pend(thread, thread->since, LATENCY_OTHER);
    uint64_t until = known ? woken : time;

    wait->to = time;
    wait->ticks += until - thread->since;
    wait->ready += time - until;
    wait->address = thread->waits ? thread->told.address : 0;
    wait->joins = thread->waits ? thread->told.joins : 0;
    wait->number = thread->waits ? thread->told.number : HR_WAIT_NO_CALL;
    wait->waker = waker;
    wait->woken = woken;
}

/* The thread comes back to a CPU. */
static void come(struct follow_threads *t, const struct hr_rec_switch *change,
                 follow_threads_waited *waited, void *context)
{
    struct follow_thread *thread = follow_threads_get(t, change->to_tid);
    uint64_t from, woken;
    bool futex, known;

    if (thread == NULL)
        return;
    woken = thread->woken;
    thread->woken = 0;
    if (!thread->away)
        return;
    thread->away = false;
    if (change->time <= thread->since)
        return;
    from = thread->since;
    futex = thread->waits && thread->told.number == __NR_futex;
    known = woken >= from && woken <= change->time;
    if (!known)
        woken = woken_at(t, change->waker_tid, futex, from, change->time);
    thread = follow_threads_find(t, change->to_tid);
    if (thread->reason == HR_SWITCH_BLOCK) {
        add_pending(thread, change->time, change->waker_tid, woken, known);
        if (thread->waits)
            settle(thread, latency_waits_told(&thread->told, t->points, thread->function), waited,
                   context);
        return;
    }
    waited(context, &(struct follow_wait){.tid = thread->tid,
                                          .from = from,
                                          .to = change->time,
                                          .ticks = change->time - from,
                                          .call = thread->innermost,
                                          .request = thread->serial,
                                          .number = HR_WAIT_NO_CALL,
                                          .spent = LATENCY_READY});
}

void follow_threads_switch(struct follow_threads *t, const struct hr_rec_switch *change,
                           follow_threads_waited *waited, void *context)
{
    struct follow_thread *thread;

    if (change->to_tid != 0)
        come(t, change, waited, context);
    thread = follow_threads_get(t, change->from_tid);
    if (thread == NULL)
        return;
    if (change->reason == HR_SWITCH_EXIT) {
        settle_rest(thread, waited, context);
        t->ended += !thread->ended;
        thread->ended = true;
        return;
    }
    thread->away = true;
    thread->since = change->time;
    thread->reason = (uint8_t)change->reason;
}

void follow_threads_call(struct follow_threads *t, const struct hr_rec_syscall *call,
                         follow_threads_waited *waited, void *context)
{
    struct follow_thread *thread = follow_threads_get(t, call->tid);

    if (thread == NULL)
        return;
    if (call->time <= thread->pending.from && thread->pending.to != 0) {
        thread->pending.number = call->number;
        settle(thread, latency_waits_kind(call->number), waited, context);
    }
    settle_rest(thread, waited, context);
    thread->waits = false;
    thread->last_call = call->time;
    if (call->number == __NR_futex)
        thread->last_futex = call->time;
}

void follow_threads_wait(struct follow_threads *t, const struct hr_rec_wait *wait,
                         follow_threads_waited *waited, void *context)
{
    struct follow_thread *thread = follow_threads_get(t, wait->tid);

    if (thread == NULL)
        return;
    settle_rest(thread, waited, context); /* a page before the call */
    thread->waits = true;
    thread->told = *wait;
}

void follow_threads_wake(struct follow_threads *t, const struct hr_rec_wake *wake)
{
    struct follow_thread *thread = follow_threads_find(t, wake->tid);

    if (thread != NULL)
        thread->woken = wake->woken;
}

void follow_threads_gap(struct follow_threads *t, const struct hr_rec_gap *gap)
{
    struct follow_thread *thread = follow_threads_get(t, gap->tid);
    struct follow_wait *wait;

    if (thread == NULL || gap->time_last <= gap->time_first)
        return;
    wait = pend(thread, gap->time_first, LATENCY_PAGES);
    wait->to = wait->woken = gap->time_last;
    wait->ticks += gap->time_last - gap->time_first;
}

void follow_threads_hit(struct follow_thread *thread, follow_threads_waited *waited, void *context)
{
    thread->away = thread->waits = false;
    settle_rest(thread, waited, context);
}

void follow_threads_loss(struct follow_threads *t)
{
    t->losses++;
}
