/* Follows threads through their hits, switches and system calls. */
#include "host/latency/latency_threads.h"

#include <string.h>

#include "host/latency/latency_holders.h"
#include "host/latency/latency_table.h"
#include "host/latency/latency_waits.h"

/* Returns what a thread has spent since an entry, `ticks` in all. */
static void spent_since(const struct latency_thread *thread, const struct latency_entry *entry,
                        uint64_t ticks, uint64_t spent[LATENCY_SPENT])
{
    uint64_t away = 0;

    for (uint32_t i = LATENCY_ON_CPU + 1; i < LATENCY_SPENT; i++) {
        spent[i] = thread->spent[i] - entry->spent[i];
        away += spent[i];
    }
    spent[LATENCY_ON_CPU] = ticks > away ? ticks - away : 0;
}

uint32_t latency_threads_innermost(const struct latency_thread *thread)
{
    const struct invocations *open = &thread->open;

    return open->depth != 0 ? open->open[open->order[open->depth - 1]].function : TRACE_POINTS_NONE;
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
        if (t->follower.lost != NULL)
            t->follower.lost(t->follower.context, thread, slot, end);
        return;
    }
    call.ticks = t->hit->time - entry->time;
    call.own = call.ticks > entry->callees ? call.ticks - entry->callees : 0;
    spent_since(thread, entry, call.ticks, call.spent);
    call.own_on_cpu = call.spent[LATENCY_ON_CPU];
    call.own_on_cpu -=
        entry->callees_on_cpu < call.own_on_cpu ? entry->callees_on_cpu : call.own_on_cpu;
    latency_heap_returned(&t->heap, &t->info->points, open->function, entry->parent,
                          entry->arguments, t->hit->arguments[0]);
    if (open->outer != INVOCATIONS_NONE) {
        thread->entries[open->outer].callees += call.ticks;
        thread->entries[open->outer].callees_on_cpu += call.spent[LATENCY_ON_CPU];
    }
    if (t->follower.returned != NULL)
        t->follower.returned(t->follower.context, &call);
}

static void note_wait(struct latency_threads *t, struct latency_thread *thread,
                      const struct latency_wait *wait)
{
    thread->spent[wait->spent] += wait->ticks;
    thread->spent[LATENCY_READY] += wait->ready;
    latency_holders_waited(thread, wait);
    if (t->follower.waited != NULL)
        t->follower.waited(t->follower.context, thread, wait);
}

/* Of the wait that has ended it is known what for. */
static void settle(struct latency_threads *t, struct latency_thread *thread,
                   enum latency_spent spent)
{
    if (thread->pending.to == 0)
        return;
    thread->pending.spent = spent;
    note_wait(t, thread, &thread->pending);
    thread->pending.to = 0;
}

/* No system call explains it. */
static void settle_rest(struct latency_threads *t, struct latency_thread *thread)
{
    settle(t, thread, thread->pending.spent);
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
    entry->callees = entry->callees_on_cpu = 0;
    entry->mark = 0;
    entry->parent =
        outer == INVOCATIONS_NONE ? TRACE_POINTS_NONE : thread->open.open[outer].function;
    memcpy(entry->spent, thread->spent, sizeof entry->spent);
    memcpy(entry->counters, hit->counters, sizeof(uint64_t) * t->event_count);
    memcpy(entry->arguments, hit->arguments,
           sizeof(uint64_t) * t->info->points.meta.argument_count);
    latency_heap_entered(&t->heap, &t->info->points, function, hit->arguments);
    if (t->follower.entered != NULL)
        t->follower.entered(t->follower.context, thread, slot);
}

/* The thread runs, whatever was said. */
static void run(struct latency_threads *t, struct latency_thread *thread)
{
    thread->away = thread->waits = thread->ended = false;
    settle_rest(t, thread);
}

static void take_hit(void *context, const struct trace_hit *hit)
{
    struct latency_threads *t = context;
    struct latency_thread *thread = latency_table_get(t, hit->tid);
    uint32_t function = trace_points_function(&t->info->points, hit->point);
    const struct invocations_visitor visitor = {t, ended};

    t->hits++;
    if (thread == NULL || function == TRACE_POINTS_NONE) {
        t->refused += thread == NULL;
        t->unknown += thread != NULL;
        return;
    }
    if (!trace_info_observed(t->info))
        run(t, thread);
    t->hit = hit;
    t->thread = thread;
    if (hit->what & HR_PROBE_ENTERED)
        enter(t, thread, function);
    if (hit->what & HR_PROBE_RETURNED)
        invocations_return(&thread->open, function, hit->sp, &visitor);
    t->reached += hit->what == HR_PROBE_REACHED;
    latency_holders_note(t, thread);
}

static void end_thread(struct latency_threads *t, struct latency_thread *thread,
                       enum invocations_end end)
{
    const struct invocations_visitor visitor = {t, ended};

    t->thread = thread;
    invocations_end(&thread->open, end, &visitor);
}

/* Begins a wait, unless the system call has had one: several are one. */
static struct latency_wait *pend(struct latency_thread *thread, uint64_t from, uint64_t moment,
                                 enum latency_spent spent)
{
    struct latency_wait *wait = &thread->pending;

    if (wait->to == 0)
        *wait = (struct latency_wait){.from = from,
                                      .moment = moment,
                                      .tid = thread->tid,
                                      .number = UINT32_MAX,
                                      .spent = spent,
                                      .holder = {.function = TRACE_POINTS_NONE}};
    return wait;
}

static void add_pending(struct latency_threads *t, struct latency_thread *thread, uint64_t time,
                        uint32_t waker, uint64_t woken)
{
    struct latency_wait *wait = pend(thread, thread->since, thread->moment, LATENCY_OTHER);

    wait->to = time;
    wait->ticks += woken - thread->since;
    wait->ready += time - woken;
    wait->address = thread->waits ? thread->told.address : 0;
    wait->joins = thread->waits ? thread->told.joins : 0;
    if (wait->address != 0 && !trace_processes_any(&t->info->processes))
        wait->block = latency_heap_find(&t->heap, wait->address);
    wait->number = thread->waits ? thread->told.number : UINT32_MAX;
    wait->holder = latency_holders_find(t, waker, wait);
}

/* It waited for the host to find or read a file: in a system call or, for a page, outside. */
static void take_gap(struct latency_thread *thread, const struct hr_rec_gap *gap, uint64_t moment)
{
    struct latency_wait *wait;

    if (gap->time_last <= gap->time_first)
        return;
    wait = pend(thread, gap->time_first, moment, LATENCY_PAGES);
    wait->to = gap->time_last;
    wait->ticks += gap->time_last - gap->time_first;
}

/* The thread comes back to a CPU; `waker` made it ready. */
static void come(struct latency_threads *t, struct latency_thread *thread, uint64_t time,
                 uint32_t waker)
{
    uint64_t woken = thread->woken;

    thread->woken = 0;
    if (!thread->away)
        return;
    thread->away = false;
    if (time <= thread->since)
        return;
    if (woken < thread->since || woken > time)
        woken = time;
    if (thread->reason != HR_SWITCH_BLOCK) {
        const struct latency_wait wait = {.from = thread->since,
                                          .to = time,
                                          .ticks = time - thread->since,
                                          .tid = thread->tid,
                                          .number = UINT32_MAX,
                                          .spent = LATENCY_READY,
                                          .holder = {.function = TRACE_POINTS_NONE}};

        note_wait(t, thread, &wait);
        return;
    }
    add_pending(t, thread, time, waker, woken);
    if (thread->waits)
        settle(
            t, thread,
            latency_waits_told(&thread->told, &t->info->points, latency_threads_innermost(thread)));
}

static void take_switch(struct latency_threads *t, const struct hr_rec_switch *change)
{
    struct latency_thread *thread = latency_threads_find(t, change->to_tid);

    if (thread != NULL)
        come(t, thread, change->time, change->waker_tid);
    thread = latency_threads_find(t, change->from_tid);
    if (thread == NULL)
        return;
    if (change->reason == HR_SWITCH_EXIT) {
        if (t->follower.exited != NULL)
            t->follower.exited(t->follower.context, thread, change->time);
        end_thread(t, thread, INVOCATIONS_LEFT);
        thread->ended = true;
        return;
    }
    thread->away = true;
    thread->since = change->time;
    t->moment += change->reason == HR_SWITCH_BLOCK;
    thread->moment = t->moment;
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
    settle_rest(t, thread);
    thread->waits = false;
    latency_holders_called(thread, call);
}

static void take_wait(struct latency_threads *t, struct latency_thread *thread,
                      const struct hr_rec_wait *wait)
{
    settle_rest(t, thread); /* a page before the call */
    thread->waits = true;
    thread->told = *wait;
}

/* A thread says for which request it works. */
static void take_request(struct latency_threads *t, const struct hr_rec_request *request)
{
    struct latency_thread *thread = latency_table_get(t, request->tid);

    if (thread == NULL) {
        t->refused++;
        return;
    }
    run(t, thread);
    if (request->kind == HR_REQUEST_BEGIN || request->kind == HR_REQUEST_JOIN) {
        thread->works = true;
        thread->number_of_request = request->request;
    } else if (request->kind != HR_REQUEST_END || thread->number_of_request == request->request) {
        thread->works = false;
    }
    if (t->follower.request != NULL)
        t->follower.request(t->follower.context, thread, request);
    latency_holders_note(t, thread);
}

static void take_record(void *context, uint8_t type, const void *body)
{
    struct latency_threads *t = context;
    const struct hr_rec_syscall *call = body;
    const struct hr_rec_wait *wait = body;
    const struct hr_rec_wake *wake = body;
    const struct hr_rec_gap *gap = body;
    struct latency_thread *thread;

    if (type == HR_REC_SWITCH) {
        take_switch(t, body);
    } else if (type == HR_REC_SYSCALL) {
        thread = latency_threads_find(t, call->tid);
        if (thread != NULL)
            take_call(t, thread, call);
    } else if (type == HR_REC_WAIT) {
        thread = latency_threads_find(t, wait->tid);
        if (thread != NULL)
            take_wait(t, thread, wait);
    } else if (type == HR_REC_WAKE) {
        thread = latency_threads_find(t, wake->tid);
        if (thread != NULL)
            thread->woken = wake->woken;
    } else if (type == HR_REC_GAP) {
        thread = latency_threads_find(t, gap->tid);
        if (thread != NULL)
            take_gap(thread, gap, t->moment);
    } else if (type == HR_REC_REQUEST) {
        take_request(t, body);
    }
}

static void take_loss(void *context, uint64_t time)
{
    struct latency_threads *t = context;

    (void)time;
    if (t->follower.loss != NULL)
        t->follower.loss(t->follower.context);
    for (uint32_t i = 0; i < 1u << t->bits; i++) {
        struct latency_thread *thread = t->all[i];

        if (thread == NULL)
            continue;
        end_thread(t, thread, INVOCATIONS_UNKNOWN);
        thread->away = thread->waits = false;
        thread->pending.to = thread->woken = 0;
        latency_holders_forget(thread);
    }
}

/* The program ends: nothing returns. */
static void take_exit(void *context)
{
    struct latency_threads *t = context;

    for (uint32_t i = 0; i < 1u << t->bits; i++)
        if (t->all[i] != NULL)
            end_thread(t, t->all[i], INVOCATIONS_LEFT);
}

struct latency_sink latency_threads_sink(struct latency_threads *t)
{
    return (struct latency_sink){t, take_hit, take_record, take_loss, take_exit};
}

void latency_threads_finish(struct latency_threads *t)
{
    take_loss(t, 0);
    latency_table_forget(t, true);
}
