/* Keeps the steps of requests. */
#include "host/latency/latency_request_steps.h"

#include <errno.h>
#include <stdlib.h>

#include "host/base/array.h"
#include "host/latency/latency_waits.h"

static void add_step(struct latency_requests *r, struct latency_request *request,
                     const struct latency_request_step *step)
{
    if (!r->keeps && !r->tails)
        return;
    if (request->step_count == LATENCY_REQUEST_STEPS_MAX ||
        r->step_count == LATENCY_STEPS_OPEN_MAX) {
        request->cut++;
        return;
    }
    if (array_grow(&request->steps, request->step_count, sizeof *step) != 0) {
        r->error = -ENOMEM;
        return;
    }
    request->steps[request->step_count++] = *step;
    r->step_count++;
}

void latency_request_steps_said(struct latency_requests *r, struct latency_request *request,
                                const struct hr_rec_request *record)
{
    const struct latency_request_step step = {
        .from = record->time, .to = record->time, .tid = record->tid, .kind = record->kind};

    if (!r->tails)
        add_step(r, request, &step);
}

/* What the thread waits for now, or has waited for in the present system call, from `since` on. */
static struct latency_wait present_wait(const struct latency_requests *r,
                                        const struct latency_thread *thread, uint64_t time)
{
    uint64_t since = thread->since > thread->work.since ? thread->since : thread->work.since;
    struct latency_wait wait = thread->pending;

    if (wait.to == 0) {
        wait = (struct latency_wait){.from = since, .number = UINT32_MAX, .spent = LATENCY_OTHER};
        wait.holder.function = TRACE_POINTS_NONE;
    }
    if (!thread->away || time <= since)
        return wait;
    wait.ticks += time - since;
    wait.to = time;
    if (thread->reason != HR_SWITCH_BLOCK) {
        wait.spent = LATENCY_READY;
    } else if (thread->waits) {
        wait.number = thread->told.number;
        wait.address = thread->told.address;
        wait.joins = thread->told.joins;
        wait.spent =
            latency_waits_told(&thread->told, &r->info->points, latency_threads_innermost(thread));
    }
    wait.tid = thread->tid;
    return wait;
}

/* Calls that have not returned, of those that began for the request. */
static void add_open(struct latency_requests *r, const struct latency_thread *thread, uint64_t time)
{
    for (uint32_t i = 0; i < thread->open.depth; i++) {
        uint32_t slot = thread->open.order[i];
        const struct latency_request_step step = {.from = thread->entries[slot].time,
                                                  .to = time,
                                                  .tid = thread->tid,
                                                  .kind = LATENCY_REQUEST_OPEN,
                                                  .function = thread->open.open[slot].function};

        if (step.from >= thread->work.since && step.from <= time)
            add_step(r, thread->work.request, &step);
    }
}

void latency_request_steps_left(struct latency_requests *r, const struct latency_thread *thread,
                                uint64_t time)
{
    const struct latency_work *work = &thread->work;
    struct latency_request *request = work->request;
    uint64_t ticks = time > work->since ? time - work->since : 0, away = 0;
    struct latency_wait wait = present_wait(r, thread, time);

    for (uint32_t i = LATENCY_ON_CPU + 1; i < LATENCY_SPENT; i++) {
        uint64_t spent = thread->spent[i] - work->spent[i];

        spent += (i == wait.spent ? wait.ticks : 0) + (i == LATENCY_READY ? wait.ready : 0);

        request->spent[i] += spent;
        away += spent;
    }
    request->spent[LATENCY_ON_CPU] += ticks > away ? ticks - away : 0;
    if (wait.ticks != 0)
        latency_request_steps_waited(r, thread, &wait);
    if (r->keeps)
        add_open(r, thread, time);
}

void latency_request_steps_returned(struct latency_requests *r, const struct latency_call *call)
{
    const struct latency_work *work = &call->thread->work;
    const struct latency_request_step step = {.from = call->entry->time,
                                              .to = call->hit->time,
                                              .tid = call->thread->tid,
                                              .kind = LATENCY_REQUEST_CALL,
                                              .function = call->function};

    if (work->request != NULL && step.from >= work->since && r->keeps)
        add_step(r, work->request, &step);
}

void latency_request_steps_waited(struct latency_requests *r, const struct latency_thread *thread,
                                  const struct latency_wait *wait)
{
    const struct latency_request_step step = {.from = wait->from,
                                              .to = wait->to,
                                              .tid = thread->tid,
                                              .kind = LATENCY_REQUEST_WAIT,
                                              .wait = *wait};

    if (thread->work.request != NULL)
        add_step(r, thread->work.request, &step);
}
