/* Joins invocations, waits and requests of threads. */
#include "host/follow/follow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/follow/follow_served.h"

struct note { /* of an open invocation: what latency_entry does not have */
    uint64_t number, request;
    uint32_t depth, cpu;
    uint32_t stack;
};

struct follow {
    struct trace_scan scan;
    struct latency_threads latency;
    struct latency_sink sink; /* of `latency` */
    struct follow_threads threads;
    struct follow_served served;
    const struct follow_visitor *visitor;
    uint64_t now;
    struct follow_sums sums;
    int result;
};

static void note_result(struct follow *f, int result)
{
    if (f->result == 0)
        f->result = result;
}

static bool is_selected(const struct follow *f, uint32_t tid, uint64_t from, uint64_t to)
{
    const struct selection *selection = &f->scan.selection;
    const struct trace_info *info = &f->scan.info;

    return selection_is_all(selection) || (trace_info_time_ns(info, from) >= selection->from_ns &&
                                           trace_info_time_ns(info, to) <= selection->to_ns &&
                                           trace_info_selects(info, selection, tid, from));
}

static void advance(struct follow *f, uint64_t time)
{
    f->now = time > f->now ? time : f->now;
}

static void waited(void *context, const struct follow_wait *wait)
{
    struct follow *f = context;

    if (!is_selected(f, wait->tid, wait->from, wait->to))
        return;
    f->sums.waits++;
    if (f->visitor->waited != NULL && f->result == 0)
        note_result(f, f->visitor->waited(f->visitor->context, wait));
}

/* The lowest stack that no other open invocation of the thread is on. */
static uint32_t free_stack(const struct latency_thread *thread, const struct note *notes,
                           uint32_t slot)
{
    bool used[INVOCATIONS_MAX + 1] = {false};
    uint32_t stack = 0;

    for (uint32_t i = 0; i < thread->open.depth; i++)
        if (thread->open.order[i] != slot)
            used[notes[thread->open.order[i]].stack] = true;
    while (used[stack])
        stack++;
    return stack;
}

static void fill(struct follow_call *call, const struct latency_thread *thread, uint32_t slot)
{
    const struct invocations_open *open = &thread->open.open[slot];
    const struct note *notes = thread->notes, *note = &notes[slot];

    *call = (struct follow_call){
        .number = note->number,
        .outer = open->outer != INVOCATIONS_NONE ? notes[open->outer].number : FOLLOW_NONE,
        .request = note->request,
        .start = thread->entries[slot].time,
        .tid = thread->tid,
        .function = open->function,
        .cpu = note->cpu,
        .depth = note->depth,
        .stack = note->stack,
    };
    memcpy(call->arguments, thread->entries[slot].arguments, sizeof call->arguments);
}

static void entered(void *context, struct latency_thread *thread, uint32_t slot)
{
    struct follow *f = context;
    struct follow_thread *known = follow_threads_get(&f->threads, thread->tid);
    uint32_t outer = thread->open.open[slot].outer;
    struct note *notes = thread->notes;
    struct follow_call call;

    if (notes == NULL)
        notes = thread->notes = calloc(INVOCATIONS_MAX, sizeof *notes);
    if (notes == NULL) {
        note_result(f, -ENOMEM);
        return;
    }
    notes[slot] = (struct note){
        .number = ++f->sums.calls,
        .request = known != NULL ? known->serial : FOLLOW_NONE,
        .cpu = f->latency.hit->cpu,
        .depth = outer != INVOCATIONS_NONE ? notes[outer].depth + 1 : 0,
    };
    notes[slot].stack =
        outer != INVOCATIONS_NONE ? notes[outer].stack : free_stack(thread, notes, slot);
    if (known != NULL) {
        known->innermost = notes[slot].number;
        known->function = thread->open.open[slot].function;
    }
    if (f->visitor->entered == NULL || f->result != 0)
        return;
    fill(&call, thread, slot);
    note_result(f, f->visitor->entered(f->visitor->context, &call));
}

/* An invocation's slot is its own until this returns. */
static void give(struct follow *f, const struct latency_thread *thread, struct follow_call *call)
{
    struct follow_thread *known = follow_threads_find(&f->threads, thread->tid);
    const struct invocations *open = &thread->open;
    const struct note *notes = thread->notes;

    if (known != NULL && known->innermost == call->number) {
        uint32_t outer = open->depth >= 2 ? open->order[open->depth - 2] : INVOCATIONS_NONE;

        known->innermost = outer != INVOCATIONS_NONE ? notes[outer].number : FOLLOW_NONE;
        known->function =
            outer != INVOCATIONS_NONE ? open->open[outer].function : TRACE_POINTS_NONE;
    }
    if (f->visitor->ended != NULL && f->result == 0)
        note_result(f, f->visitor->ended(f->visitor->context, call));
}

static void returned(void *context, const struct latency_call *ended)
{
    struct follow *f = context;
    struct follow_call call;

    if (ended->thread->notes == NULL)
        return;
    fill(&call, ended->thread, (uint32_t)(ended->entry - ended->thread->entries));
    call.end = ended->hit->time;
    call.how = INVOCATIONS_RETURNED;
    call.own = ended->own;
    memcpy(call.spent, ended->spent, sizeof call.spent);
    for (uint32_t i = 0; i < f->latency.event_count; i++)
        call.counters[i] = ended->hit->counters[i] > ended->entry->counters[i]
                               ? ended->hit->counters[i] - ended->entry->counters[i]
                               : 0;
    call.result = f->scan.info.points.meta.argument_count != 0 ? ended->hit->arguments[0] : 0;
    give(f, ended->thread, &call);
}

/* A return that is earlier than its entry tells nothing. */
static void lost(void *context, const struct latency_thread *thread, uint32_t slot,
                 enum invocations_end how)
{
    struct follow *f = context;
    struct follow_call call;

    if (thread->notes == NULL)
        return;
    fill(&call, thread, slot);
    call.end = f->now > call.start ? f->now : call.start;
    call.how = how == INVOCATIONS_RETURNED ? INVOCATIONS_UNKNOWN : how;
    give(f, thread, &call);
}

static void take_hit(void *context, const struct trace_hit *hit)
{
    struct follow *f = context;
    struct follow_thread *thread;

    advance(f, hit->time);
    thread = follow_threads_get(&f->threads, hit->tid);
    if (thread != NULL && !trace_info_observed(&f->scan.info))
        follow_threads_hit(thread, waited, f);
    f->sink.hit(f->sink.context, hit);
}

static void take_switch(struct follow *f, const struct hr_rec_switch *change)
{
    struct follow_thread *thread;

    advance(f, change->time);
    f->sink.record(f->sink.context, HR_REC_SWITCH, change);
    follow_threads_switch(&f->threads, change, waited, f);
    thread = change->reason == HR_SWITCH_EXIT ? follow_threads_find(&f->threads, change->from_tid)
                                              : NULL;
    if (thread != NULL)
        follow_served_leave(&f->served, thread, f->now);
}

static void take_record(void *context, uint8_t type, const void *body)
{
    struct follow *f = context;
    const struct hr_rec_syscall *call = body;

    if (type == HR_REC_SWITCH) {
        take_switch(f, body);
    } else if (type == HR_REC_SYSCALL) {
        advance(f, call->time + call->duration_ticks);
        f->sink.record(f->sink.context, type, body);
        follow_threads_call(&f->threads, call, waited, f);
    } else if (type == HR_REC_WAIT) {
        advance(f, ((const struct hr_rec_wait *)body)->time);
        f->sink.record(f->sink.context, type, body);
        follow_threads_wait(&f->threads, body, waited, f);
    } else if (type == HR_REC_REQUEST) {
        advance(f, ((const struct hr_rec_request *)body)->time);
        follow_served_take(&f->served, body);
    } else if (type == HR_REC_WAKE) {
        f->sink.record(f->sink.context, type, body);
        follow_threads_wake(&f->threads, body);
    } else if (type == HR_REC_GAP) {
        f->sink.record(f->sink.context, type, body);
        follow_threads_gap(&f->threads, body);
    }
}

static void take_loss(void *context, uint64_t time)
{
    struct follow *f = context;

    advance(f, time);
    f->sink.loss(f->sink.context, time);
    follow_threads_loss(&f->threads);
}

static void take_exit(void *context)
{
    struct follow *f = context;

    advance(f, f->scan.info.exit.time);
    f->sink.exit(f->sink.context);
}

static int begin(void *context)
{
    struct follow *f = context;
    int error = latency_threads_init(&f->latency, &f->scan.info);

    if (error == 0 && f->visitor->begin != NULL)
        error = f->visitor->begin(f->visitor->context, &f->scan.info);
    return error;
}

static int walk(struct follow *f)
{
    const struct latency_sink sink = {f, take_hit, take_record, take_loss, take_exit};
    int error;

    f->latency.follower = (struct latency_follower){
        .context = f, .entered = entered, .returned = returned, .lost = lost};
    f->sink = latency_threads_sink(&f->latency);
    f->served.visitor = f->visitor;
    f->served.threads = &f->threads;
    f->served.info = &f->scan.info;
    f->threads.points = &f->scan.info.points;
    error = latency_order_run(&f->scan, begin, f, &sink);
    if (error != 0)
        return error;
    if (f->scan.info.has_exit)
        advance(f, f->scan.info.exit.time);
    latency_threads_finish(&f->latency);
    follow_served_finish(&f->served, f->now);
    return f->result != 0 ? f->result : f->served.result;
}

int follow_run(const struct trace_scan *of, const struct follow_visitor *visitor,
               struct follow_sums *sums)
{
    struct follow *f = calloc(1, sizeof *f);
    int error = f != NULL ? trace_scan_again(&f->scan, of) : -ENOMEM;

    if (error != 0) {
        free(f);
        return error;
    }
    f->visitor = visitor;
    error = walk(f);
    *sums = f->sums;
    sums->requests = f->served.serials;
    sums->refused = f->latency.refused + f->threads.refused + f->served.refused;
    latency_threads_free(&f->latency);
    follow_threads_free(&f->threads);
    follow_served_free(&f->served);
    trace_scan_close(&f->scan);
    free(f);
    return error;
}
