/* Keeps what threads were in when others began to wait. */
#include "host/latency/latency_holders.h"

#include <asm/unistd_64.h>

void latency_holders_note(const struct latency_threads *t, struct latency_thread *thread)
{
    struct latency_past *last = &thread->past[(thread->past_count - 1) % LATENCY_PAST];

    if (thread->past_count == 0 || last->moment != t->moment)
        last = &thread->past[thread->past_count++ % LATENCY_PAST];
    *last = (struct latency_past){.moment = t->moment,
                                  .request = thread->number_of_request,
                                  .function = latency_threads_innermost(thread),
                                  .works = thread->works};
}

void latency_holders_waited(struct latency_thread *thread, const struct latency_wait *wait)
{
    if (wait->address == 0)
        return;
    thread->lock = *wait;
    thread->released = 0;
}

void latency_holders_called(struct latency_thread *thread, const struct hr_rec_syscall *call)
{
    if (call->number == __NR_futex && thread->released == 0 && call->time >= thread->lock.to)
        thread->released = call->time;
}

void latency_holders_forget(struct latency_thread *thread)
{
    thread->past_count = 0;
    thread->lock.ticks = 0;
}

/* The innermost function that was open then and still is: where the past does not reach back. */
static uint32_t open_since(const struct latency_thread *thread, uint64_t time)
{
    for (uint32_t i = thread->open.depth; i-- > 0;) {
        uint32_t slot = thread->open.order[i];

        if (thread->entries[slot].time <= time)
            return thread->open.open[slot].function;
    }
    return TRACE_POINTS_NONE;
}

/* What the thread was in when a wait began: what is noted before that moment. */
static struct latency_holder state_at(const struct latency_thread *thread,
                                      const struct latency_wait *wait)
{
    struct latency_holder holder = {.tid = thread->tid};
    uint64_t kept = thread->past_count < LATENCY_PAST ? thread->past_count : LATENCY_PAST;

    for (uint64_t i = thread->past_count; i-- > thread->past_count - kept;) {
        const struct latency_past *past = &thread->past[i % LATENCY_PAST];

        if (past->moment >= wait->moment)
            continue;
        holder.function = past->function;
        holder.works = past->works;
        holder.request = past->request;
        return holder;
    }
    holder.function = open_since(thread, wait->from);
    return holder;
}

/* Whether the lock was mostly another's since the wait began, for which the thread waited, too. */
static bool took_over(const struct latency_thread *thread, const struct latency_wait *wait)
{
    const struct latency_wait *lock = &thread->lock;
    uint64_t until = wait->to - wait->ready;

    if (wait->address == 0 || lock->ticks == 0 || lock->address != wait->address ||
        lock->to <= wait->from || lock->holder.tid == wait->tid)
        return false;
    if (thread->released != 0 && thread->released < until)
        until = thread->released;
    return until <= lock->to || until - lock->to <= lock->to - wait->from;
}

struct latency_holder latency_holders_find(struct latency_threads *t, uint32_t waker,
                                           const struct latency_wait *wait)
{
    const struct latency_thread *thread = latency_threads_find(t, waker);

    if (waker == wait->tid)
        waker = 0;
    if (thread == NULL || waker == 0)
        return (struct latency_holder){.tid = waker, .function = TRACE_POINTS_NONE};
    if (took_over(thread, wait))
        return thread->lock.holder;
    return state_at(thread, wait);
}
