/* The program's own timers: expiry, repetition, overrun. */
#include "guest/signal/program_timer.h"
#include "guest/base/context.h"
#include "guest/thread/process.h"
#include "guest/thread/wait.h"

#include <limits.h>
#include <linux/time.h>
#include <signal.h>
#include <string.h>

#include "guest/base/run.h"
#include "guest/cpu/clock.h"
#include "guest/memory/heap.h"
#include "guest/signal/program_timer_math.h"
#include "guest/signal/signal.h"
#include "guest/thread/threads.h"

#define USED_STEP_NS 20000ull /* least time between two looks at a clock of used time */
#define IGNORED_STEP_NS 1000000ull /* least time between two signals that are ignored */

static const struct program_timer itimers[ITIMERS] = {
    [ITIMER_REAL] = {.clock.kind = CLOCKS_MONOTONIC, .signal = SIGALRM},
    [ITIMER_VIRTUAL] = {.clock = {.kind = CLOCKS_PROCESS, .user_only = true}, .signal = SIGVTALRM},
    [ITIMER_PROF] = {.clock.kind = CLOCKS_PROCESS, .signal = SIGPROF},
};
static uint64_t last_serial;

static void program_timer_expire(struct timer *timer);

/* Returns the time on the timer's clock, which names its thread or process; the clock of one that
 * has ended stands still. */
static uint64_t now_of(const struct program_timer *t)
{
    uint64_t ns = 0;

    (void)clocks_read(NULL, &t->clock, &ns);
    return ns;
}

/* Returns the number of threads whose time the clock counts. */
static uint32_t users_of(const struct program_timer *t)
{
    const struct process *process =
        t->clock.kind == CLOCKS_PROCESS ? process_find(t->clock.id) : NULL;

    return process != NULL && process->thread_count ? process->thread_count : 1;
}

/* Returns when to look at the clock again.  All threads together use time faster than one does, so
 * that is early for the process's clock. */
static uint64_t ticks_until_used(struct program_timer *t, uint64_t now)
{
    uint64_t left = t->due_ns > now ? t->due_ns - now : 0;
    uint64_t share = left / users_of(t);

    if (share < USED_STEP_NS)
        share = left < USED_STEP_NS ? left : USED_STEP_NS;
    if (share >= PROGRAM_TIMER_NS_MAX)
        return UINT64_MAX;
    t->used_ns = now;
    return clock_now(cpu_this()) + run_ns_to_ticks(share) + 1;
}

static void program_timer_arm(struct program_timer *t)
{
    uint64_t due;

    timer_cancel(&t->timer);
    if (!t->due_ns || t->notify == PROGRAM_TIMER_SILENT)
        return;
    if (clocks_counts_use(&t->clock))
        due = ticks_until_used(t, now_of(t));
    else
        due = clocks_ticks(&t->clock, t->due_ns);
    t->timer.expire = program_timer_expire;
    if (due != UINT64_MAX)
        timer_set(&t->timer, due);
}

/* Sends its signal.  Returns false if the signal is ignored, its thread has ended, or there is no
 * room. */
static bool program_timer_send(struct program_timer *t)
{
    struct signal_note note = {
        .signal = t->signal, .code = t->interval_timer ? SI_KERNEL : SI_TIMER, .timer = t->serial};
    struct thread *thread = t->notify == PROGRAM_TIMER_THREAD ? threads_find(t->tid) : NULL;

    if (thread != NULL && thread->process != t->process)
        thread = NULL;

    if (!t->interval_timer) {
        note.words[0] = t->id;
        note.words[1] = t->value;
    }
    if (t->notify == PROGRAM_TIMER_THREAD)
        return thread != NULL && !signal_ignored(thread, t->signal) &&
               signal_send_note(thread, &note) == 0;
    return !signal_process_ignored(t->process, t->signal) &&
           signal_send_process_note(t->process, &note) == 0;
}

/* A timer whose signal is ignored continues, but is set so rarely that it costs little. */
static void repeat_ignored(struct program_timer *t, uint64_t now)
{
    if (!t->interval_ns) {
        t->due_ns = 0;
        return;
    }
    (void)program_timer_forward(&t->due_ns, t->interval_ns, now + IGNORED_STEP_NS);
    program_timer_arm(t);
}

static void program_timer_expire(struct timer *timer)
{
    struct program_timer *t =
        (struct program_timer *)((char *)timer - offsetof(struct program_timer, timer));
    uint64_t now = now_of(t);

    if (now < t->due_ns) {
        if (clocks_counts_use(&t->clock) && now == t->used_ns)
            wait_timers.resting = true; /* until a thread runs */
        else
            program_timer_arm(t);
        return;
    }
    t->stale = false;
    if (t->queued) { /* since before it was set again */
        t->overrun += t->overrun < INT_MAX;
    } else if (program_timer_send(t)) {
        t->queued = true;
        t->overrun = 0;
    } else {
        repeat_ignored(t, now);
        return;
    }
    if (!t->interval_ns)
        t->due_ns = 0;
}

static struct program_timer *by_serial(const struct process *process, uint64_t serial)
{
    struct program_timer *t = process->timers;

    for (uint32_t i = 0; process->interval_timers != NULL && i < ITIMERS; i++)
        if (process->interval_timers[i].serial == serial)
            return &process->interval_timers[i];
    while (t != NULL && t->serial != serial)
        t = t->next;
    return t;
}

void program_timer_taken(const struct process *process, struct signal_note *note)
{
    struct program_timer *t = note->timer ? by_serial(process, note->timer) : NULL;
    uint64_t overrun;

    if (t == NULL || !t->queued)
        return;
    t->queued = false;
    overrun = t->overrun;
    if (!t->stale && t->interval_ns && t->due_ns) {
        overrun += program_timer_forward(&t->due_ns, t->interval_ns, now_of(t)) - 1;
        program_timer_arm(t);
    }
    t->overrun_last = overrun < INT_MAX ? (uint32_t)overrun : INT_MAX;
    t->overrun = 0;
    if (!t->interval_timer)
        note->words[0] |= (uint64_t)t->overrun_last << 32;
}

void program_timer_forgotten(const struct process *process, struct signal_note *note)
{
    struct program_timer *t = note->timer ? by_serial(process, note->timer) : NULL;

    if (t != NULL && t->interval_timer)
        t->queued = false;
    else
        program_timer_taken(process, note);
}

void program_timer_set(struct program_timer *t, const struct program_timer_setting *setting,
                       bool absolute)
{
    uint64_t value = setting->value;

    cross_assert_held();
    t->stale = true;
    t->overrun = t->overrun_last = 0;
    t->interval_ns = setting->interval;
    t->due_ns = 0;
    if (value) {
        if (!absolute && __builtin_add_overflow(now_of(t), value, &value))
            value = UINT64_MAX;
        t->due_ns = value;
    }
    program_timer_arm(t);
}

void program_timer_get(const struct program_timer *t, struct program_timer_setting *setting)
{
    uint64_t due = t->due_ns, now = now_of(t);

    *setting = (struct program_timer_setting){.interval = t->interval_ns};
    if (!due)
        return;
    if (due <= now && t->interval_ns)
        (void)program_timer_forward(&due, t->interval_ns, now);
    if (due > now)
        setting->value = due - now;
    else if (t->notify != PROGRAM_TIMER_SILENT)
        setting->value = 1; /* it is about to expire */
}

struct program_timer *program_timer_new(struct process *process)
{
    struct program_timer **at = &process->timers, *t;
    uint32_t id = 0;

    while (*at != NULL && (*at)->id == id) {
        at = &(*at)->next;
        id++;
    }
    t = id < PROGRAM_TIMERS_MAX ? heap_alloc(sizeof *t) : NULL;
    if (t == NULL)
        return NULL;
    *t = (struct program_timer){.process = process, .next = *at, .serial = ++last_serial, .id = id};
    *at = t;
    return t;
}

struct program_timer *program_timer_find(const struct process *process, uint64_t id)
{
    struct program_timer *t = process->timers;

    while (t != NULL && t->id != id)
        t = t->next;
    return t;
}

void program_timer_delete(struct program_timer *t)
{
    struct program_timer **at = &t->process->timers;

    timer_cancel(&t->timer);
    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    heap_free(t, sizeof *t);
}

static void program_timer_delete_created(struct process *process)
{
    while (process->timers != NULL)
        program_timer_delete(process->timers);
}

void program_timer_exec(struct thread *thread)
{
    if (thread->process->timers == NULL)
        return;
    signal_queue_forget_timers(&thread->signals.queue);
    signal_queue_forget_timers(&thread->process->signals);
    program_timer_delete_created(thread->process);
}

void program_timer_delete_all(struct process *process)
{
    program_timer_delete_created(process);
    for (uint32_t i = 0; process->interval_timers != NULL && i < ITIMERS; i++)
        timer_cancel(&process->interval_timers[i].timer);
    heap_free(process->interval_timers, sizeof itimers);
    process->interval_timers = NULL;
}

struct program_timer *program_timer_interval(struct process *process, uint32_t which)
{
    struct program_timer *t = process->interval_timers;

    if (t == NULL) {
        t = heap_alloc(sizeof itimers);
        if (t == NULL)
            return NULL;
        memcpy(t, itimers, sizeof itimers);
        process->interval_timers = t;
        for (uint32_t i = 0; i < ITIMERS; i++) {
            t[i].process = process;
            t[i].serial = ++last_serial;
            t[i].interval_timer = true;
            if (t[i].clock.kind == CLOCKS_PROCESS)
                t[i].clock.id = process->pid;
        }
    }
    return &t[which];
}

static void program_timer_wake(struct program_timer *t)
{
    if (t->due_ns && !t->queued && clocks_counts_use(&t->clock) && !timer_is_set(&t->timer))
        program_timer_arm(t);
}

void program_timer_wake_all(void)
{
    cross_assert_held();
    wait_timers.resting = false;
    for (struct process *p = process_after(NULL); p != NULL; p = process_after(p)) {
        for (uint32_t i = 0; p->interval_timers != NULL && i < ITIMERS; i++)
            program_timer_wake(&p->interval_timers[i]);
        for (struct program_timer *t = p->timers; t != NULL; t = t->next)
            program_timer_wake(t);
    }
}
