/* Waiting: a thread gives up its CPU until its wait ends. */
#include "guest/thread/wait.h"
#include "guest/base/context.h"
#include "guest/thread/process.h"

#include <signal.h>

#include "guest/base/run.h"
#include "guest/cpu/clock.h"
#include "guest/cpu/cross.h"
#include "guest/thread/schedule.h"
#include "lib/hash.h"

#define BUCKET_BITS 9u

struct wait_timers wait_timers;

static struct { /* threads by the hash of their key, the one that waits longest first */
    struct thread *first, *last;
} buckets[1u << BUCKET_BITS];

static void wait_add(struct thread *thread, uint64_t key)
{
    uint32_t b = hash_place(key, BUCKET_BITS);

    thread->wait.key = key;
    thread->wait.next = NULL;
    thread->wait.previous = buckets[b].last;
    if (buckets[b].last != NULL)
        buckets[b].last->wait.next = thread;
    else
        buckets[b].first = thread;
    buckets[b].last = thread;
}

static void remove_from(struct thread *thread)
{
    uint32_t b = hash_place(thread->wait.key, BUCKET_BITS);

    if (!thread->wait.key)
        return;
    if (thread->wait.next != NULL)
        thread->wait.next->wait.previous = thread->wait.previous;
    else
        buckets[b].last = thread->wait.previous;
    if (thread->wait.previous != NULL)
        thread->wait.previous->wait.next = thread->wait.next;
    else
        buckets[b].first = thread->wait.next;
    thread->wait.next = thread->wait.previous = NULL;
    thread->wait.key = 0;
}

static void end_wait(struct thread *thread, enum wait_end end)
{
    if (thread->schedule.state != THREAD_WAITING)
        return;
    thread->wait.end = end;
    remove_from(thread);
    timer_cancel(&thread->wait.timer);
    schedule_ready(thread);
}

static void timed_out(struct timer *timer)
{
    end_wait((struct thread *)((uint8_t *)timer - offsetof(struct thread, wait.timer)),
             WAIT_TIMEOUT);
}

/* Waits until `due` of the workload clock; CPU_NEVER or later: for ever.  A system call that is
 * restarted after a signal waits until the time at which its first wait was to end. */
static enum wait_end wait_until(struct thread *thread, uint64_t due, enum hr_gap_reason reason,
                                const char *what)
{
    enum wait_end end = WAIT_SIGNAL;

    if (thread->wait.restart_until && due < CPU_NEVER)
        due = thread->wait.restart_until;
    if (!thread_signals_wake(thread) && !run_state.stop_signal) {
        if (due < CPU_NEVER) {
            thread->wait.timer.expire = timed_out;
            timer_set(&thread->wait.timer, due);
        }
        schedule_block(thread, reason, what);
        end = thread->wait.end;
    }
    remove_from(thread);
    thread->wait.restart_until = end == WAIT_SIGNAL && due < CPU_NEVER ? due : 0;
    thread->after_call.forget_restart |= thread->wait.restart_until != 0;
    if (wait_timers.resting)
        wait_timers.wake();
    return end;
}

enum wait_end wait_for(struct thread *thread, uint64_t ns, const char *what)
{
    uint64_t ticks = run_ns_to_ticks(ns < CPU_NEVER ? ns : CPU_NEVER);
    uint64_t now = clock_now(thread->schedule.cpu);

    context_assert_thread();
    if (!ns) {
        remove_from(thread);
        return WAIT_TIMEOUT;
    }
    return wait_until(thread, ticks < CPU_NEVER ? now + ticks : CPU_NEVER, HR_GAP_WAIT, what);
}

enum wait_end wait_on(struct thread *thread, uint64_t key, uint64_t ns, const char *what)
{
    context_assert_thread();
    wait_add(thread, key);
    return wait_for(thread, ns, what);
}

enum wait_end wait_killable(struct thread *thread, uint64_t key, const char *what)
{
    uint64_t mask = thread->signals.mask, wanted = thread->signals.wanted;
    uint64_t restart_until = thread->wait.restart_until;
    enum wait_end end;

    thread->signals.mask = ~SIGNAL_BIT(SIGKILL);
    thread->signals.wanted = 0;
    end = wait_on(thread, key, WAIT_FOREVER, what);
    thread->signals.mask = mask;
    thread->signals.wanted = wanted;
    thread->wait.restart_until = restart_until;
    thread->signals.told = true; /* of what came in between */
    return end;
}

bool wait_asleep(struct thread *thread, uint64_t until)
{
    return wait_until(thread, until, HR_GAP_SLEEP, "sleep") == WAIT_SIGNAL;
}

struct thread *wait_first(uint64_t key,
                          bool (*wants)(const struct thread *thread, uint64_t context),
                          uint64_t context)
{
    struct thread *thread = key ? buckets[hash_place(key, BUCKET_BITS)].first : NULL;

    while (thread != NULL &&
           (thread->wait.key != key || (wants != NULL && !wants(thread, context))))
        thread = thread->wait.next;
    return thread;
}

void wait_requeue(struct thread *thread, uint64_t key)
{
    cross_assert_held();
    remove_from(thread);
    wait_add(thread, key);
}

uint32_t wait_wake_key(uint64_t key, uint32_t most)
{
    struct thread *thread;
    uint32_t woken = 0;

    cross_assert_held();
    while (woken < most && (thread = wait_first(key, NULL, 0)) != NULL) {
        wait_wake(thread);
        woken++;
    }
    return woken;
}

void wait_wake(struct thread *thread)
{
    cross_assert_held();
    end_wait(thread, WAIT_WOKEN);
}

void wait_interrupt(struct thread *thread)
{
    cross_assert_held();
    if (!thread_signals_wake(thread))
        return;
    if (thread->schedule.state == THREAD_WAITING)
        end_wait(thread, WAIT_SIGNAL);
    else if (thread->schedule.state == THREAD_RUNNING && thread->schedule.cpu != cpu_this())
        cross_call(thread->schedule.cpu);
}
