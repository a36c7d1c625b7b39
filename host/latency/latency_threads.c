/* Follows threads through their hits, switches and system calls. */
#include "host/latency/latency_threads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/latency/latency_waits.h"

#define FIRST_BITS 8u

int latency_threads_init(struct latency_threads *t, const struct trace_info *info)
{
    struct latency_follower follower = t->follower;

    *t = (struct latency_threads){.info = info, .follower = follower, .bits = FIRST_BITS};
    t->all = calloc(1u << t->bits, sizeof(void *));
    t->event_count = latency_order_events(info);
    return t->all != NULL ? 0 : -ENOMEM;
}

static uint32_t place_of(uint32_t bits, uint32_t tid)
{
    return tid * 2654435769u >> (32 - bits);
}

static struct latency_thread **find(struct latency_threads *t, uint32_t tid)
{
    uint32_t at = place_of(t->bits, tid);

    while (t->all[at] != NULL && t->all[at]->tid != tid)
        at = (at + 1) & ((1u << t->bits) - 1);
    return &t->all[at];
}

static void free_thread(struct latency_threads *t, struct latency_thread *thread)
{
    t->deep += thread->open.deep;
    t->again += thread->open.again;
    t->strays += thread->open.strays;
    free(thread->notes);
    free(thread);
    t->count--;
}

/* Forgets threads: those that have ended, or all. */
static void forget(struct latency_threads *t, bool all)
{
    struct latency_thread **old = t->all;
    uint32_t places = old != NULL ? 1u << t->bits : 0;

    t->last = NULL;
    t->all = calloc(places + 1u, sizeof(void *));
    if (t->all == NULL) { /* they stay */
        t->all = old;
        return;
    }
    for (uint32_t i = 0; i < places; i++)
        if (old[i] != NULL && (all || old[i]->ended))
            free_thread(t, old[i]);
        else if (old[i] != NULL)
            *find(t, old[i]->tid) = old[i];
    free(old);
}

void latency_threads_free(struct latency_threads *t)
{
    forget(t, true);
    free(t->all);
    *t = (struct latency_threads){0};
}

static int grow(struct latency_threads *t)
{
    uint32_t bits = t->bits + 1;
    struct latency_thread **all = calloc(1u << bits, sizeof(void *));

    if (all == NULL)
        return -ENOMEM;
    for (uint32_t i = 0; i < 1u << t->bits; i++)
        if (t->all[i] != NULL) {
            uint32_t at = place_of(bits, t->all[i]->tid);

            while (all[at] != NULL)
                at = (at + 1) & ((1u << bits) - 1);
            all[at] = t->all[i];
        }
    free(t->all);
    t->all = all;
    t->bits = bits;
    return 0;
}

/* Returns a thread, new if it must be; NULL: there is no room. */
static struct latency_thread *thread_of(struct latency_threads *t, uint32_t tid)
{
    struct latency_thread *thread, **place;

    if (t->last != NULL && t->last->tid == tid)
        return t->last;
    place = find(t, tid);
    if (*place != NULL)
        return t->last = *place;
    if (t->count == LATENCY_THREADS_MAX)
        forget(t, false);
    if (t->count == LATENCY_THREADS_MAX || (2 * t->count >= 1u << t->bits && grow(t) != 0))
        return NULL;
    thread = calloc(1, sizeof *thread);
    if (thread == NULL)
        return NULL;
    thread->tid = tid;
    invocations_init(&thread->open);
    *find(t, tid) = thread;
    t->count++;
    return t->last = thread;
}

void latency_threads_spent(const struct latency_thread *thread, const struct latency_entry *entry,
                           uint64_t ticks, uint64_t spent[LATENCY_SPENT])
{
    uint64_t away = 0;

    for (uint32_t i = LATENCY_ON_CPU + 1; i < LATENCY_SPENT; i++) {
        spent[i] = thread->spent[i] - entry->spent[i];
        away += spent[i];
    }
    spent[LATENCY_ON_CPU] = ticks > away ? ticks - away : 0;
}

/* Of the invocations visitor: an invocation ends at the present hit, or is given up. */
static void ended(void *context, uint32_t slot, const struct invocations_open *open,
                  enum invocations_end end)
{
    struct latency_threads *t = context;
    struct latency_thread *thread = t->thread;
    struct latency_entry *entry = &thread->entries[slot];
    struct latency_call call = {
        .thread = thread, .entry = entry, .hit = t->hit, .function = open->function};

    if (end != INVOCATIONS_RETURNED || t->hit->time < entry->time) {
        t->follower.lost(t->follower.context, thread, slot, end);
        return;
    }
    call.ticks = t->hit->time - entry->time;
    call.own = call.ticks > entry->callees ? call.ticks - entry->callees : 0;
    if (open->outer != INVOCATIONS_NONE)
        thread->entries[open->outer].callees += call.ticks;
    latency_threads_spent(thread, entry, call.ticks, call.spent);
    t->follower.returned(t->follower.context, &call);
}

static void note_wait(struct latency_threads *t, struct latency_thread *thread,
                      const struct latency_wait *wait)
{
    thread->spent[wait->spent] += wait->ticks;
    if (t->follower.waited != NULL)
        t->follower.waited(t->follower.context, thread, wait);
}

/* Of the wait that has ended it is known what for. */
static void settle(struct latency_threads *t, struct latency_thread *thread,
                   enum latency_spent spent)
{
    if (thread->pending.ticks == 0)
        return;
    thread->pending.spent = spent;
    note_wait(t, thread, &thread->pending);
    thread->pending.ticks = 0;
}

static void enter(struct latency_threads *t, struct latency_thread *thread, uint32_t function)
{
    const struct trace_hit *hit = t->hit;
    const struct invocations_visitor visitor = {t, ended};
    bool loops = t->info->points.functions[function].meta.flags & HR_PROBE_LOOPS;
    uint32_t slot = invocations_enter(&thread->open, function, hit->sp, loops, &visitor);
    struct latency_entry *entry;
    uint32_t outer;

    if (slot == INVOCATIONS_NONE)
        return;
    entry = &thread->entries[slot];
    outer = thread->open.open[slot].outer;
    entry->time = hit->time;
    entry->callees = 0;
    entry->mark = 0;
    entry->parent =
        outer == INVOCATIONS_NONE ? TRACE_POINTS_NONE : thread->open.open[outer].function;
    memcpy(entry->spent, thread->spent, sizeof entry->spent);
    memcpy(entry->counters, hit->counters, sizeof(uint64_t) * t->event_count);
    memcpy(entry->arguments, hit->arguments,
           sizeof(uint64_t) * t->info->points.meta.argument_count);
    if (t->follower.entered != NULL)
        t->follower.entered(t->follower.context, thread, slot);
}

static void take_hit(void *context, const struct trace_hit *hit)
{
    struct latency_threads *t = context;
    struct latency_thread *thread = thread_of(t, hit->tid);
    uint32_t function = trace_points_function(&t->info->points, hit->point);
    const struct invocations_visitor visitor = {t, ended};

    t->hits++;
    if (thread == NULL || function == TRACE_POINTS_NONE) {
        t->refused += thread == NULL;
        t->unknown += thread != NULL;
        return;
    }
    thread->away = thread->waits = thread->ended = false; /* it runs, whatever was said */
    settle(t, thread, LATENCY_OTHER);
    t->hit = hit;
    t->thread = thread;
    if (hit->what & HR_PROBE_ENTERED)
        enter(t, thread, function);
    if (hit->what & HR_PROBE_RETURNED)
        invocations_return(&thread->open, function, hit->sp, &visitor);
    t->reached += hit->what == HR_PROBE_REACHED;
}

static void end_thread(struct latency_threads *t, struct latency_thread *thread,
                       enum invocations_end end)
{
    const struct invocations_visitor visitor = {t, ended};

    t->thread = thread;
    invocations_end(&thread->open, end, &visitor);
}

/* Several waits in one system call are one. */
static void add_pending(struct latency_thread *thread, uint64_t time)
{
    struct latency_wait *wait = &thread->pending;

    if (wait->ticks == 0)
        wait->from = thread->since;
    wait->to = time;
    wait->ticks += time - thread->since;
    wait->address = thread->waits ? thread->address : 0;
    wait->number = thread->waits ? thread->number : UINT32_MAX;
}

/* The thread comes back to a CPU. */
static void come(struct latency_threads *t, struct latency_thread *thread, uint64_t time)
{
    if (!thread->away)
        return;
    thread->away = false;
    if (time <= thread->since)
        return;
    if (thread->reason != HR_SWITCH_BLOCK) {
        const struct latency_wait wait = {.from = thread->since,
                                          .to = time,
                                          .ticks = time - thread->since,
                                          .number = UINT32_MAX,
                                          .spent = LATENCY_READY};

        note_wait(t, thread, &wait);
        return;
    }
    add_pending(thread, time);
    if (thread->waits)
        settle(t, thread, latency_waits_kind(thread->number));
}

static void take_switch(struct latency_threads *t, const struct hr_rec_switch *change)
{
    struct latency_thread *thread = change->to_tid != 0 ? *find(t, change->to_tid) : NULL;

    if (thread != NULL)
        come(t, thread, change->time);
    thread = change->from_tid != 0 ? *find(t, change->from_tid) : NULL;
    if (thread == NULL)
        return;
    if (change->reason == HR_SWITCH_EXIT) {
        end_thread(t, thread, INVOCATIONS_LEFT);
        thread->ended = true;
        return;
    }
    thread->away = true;
    thread->since = change->time;
    thread->reason = (uint8_t)change->reason;
}

/* A system call has ended. */
static void take_call(struct latency_threads *t, struct latency_thread *thread,
                      const struct hr_rec_syscall *call)
{
    if (call->time <= thread->pending.from) {
        thread->pending.number = call->number;
        settle(t, thread, latency_waits_kind(call->number));
    }
    settle(t, thread, LATENCY_OTHER);
    thread->waits = false;
}

static void take_record(void *context, uint8_t type, const void *body)
{
    struct latency_threads *t = context;
    const struct hr_rec_syscall *call = body;
    const struct hr_rec_wait *wait = body;
    struct latency_thread *thread;

    if (type == HR_REC_SWITCH) {
        take_switch(t, body);
    } else if (type == HR_REC_SYSCALL) {
        thread = *find(t, call->tid);
        if (thread != NULL)
            take_call(t, thread, call);
    } else {
        thread = *find(t, wait->tid);
        if (thread != NULL) {
            thread->waits = true;
            thread->number = wait->number;
            thread->address = wait->address;
        }
    }
}

static void take_loss(void *context, uint64_t time)
{
    struct latency_threads *t = context;

    (void)time;
    for (uint32_t i = 0; i < 1u << t->bits; i++) {
        struct latency_thread *thread = t->all[i];

        if (thread == NULL)
            continue;
        end_thread(t, thread, INVOCATIONS_UNKNOWN);
        thread->away = thread->waits = false;
        thread->pending.ticks = 0;
    }
}

struct latency_sink latency_threads_sink(struct latency_threads *t)
{
    return (struct latency_sink){t, take_hit, take_record, take_loss};
}

void latency_threads_finish(struct latency_threads *t)
{
    take_loss(t, 0);
    forget(t, true);
}
