/* Follows requests through the threads that work for them. */
#include "host/latency/latency_requests.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/latency/latency_request_steps.h"
#include "lib/hash.h"

#define BITS 16u

int latency_requests_init(struct latency_requests *r, const struct trace_info *info)
{
    r->info = info;
    r->table = calloc(1u << BITS, sizeof(void *));
    r->kept = calloc(r->wanted + 1u, sizeof(void *));
    return r->table != NULL && r->kept != NULL ? 0 : -ENOMEM;
}

static void free_request(struct latency_request *request)
{
    free(request->steps);
    free(request);
}

void latency_requests_free(struct latency_requests *r)
{
    latency_requests_finish(r);
    for (uint32_t i = 0; r->kept != NULL && i < r->kept_count; i++)
        free_request(r->kept[i]);
    free(r->kept);
    free(r->table);
    latency_values_free(&r->pool, &r->ticks);
    latency_tail_free(&r->tail);
    *r = (struct latency_requests){0};
}

static struct latency_request **place_of(struct latency_requests *r, uint64_t number)
{
    return &r->table[hash_place(number, BITS)];
}

static struct latency_request *find(struct latency_requests *r, uint64_t number, uint32_t pid)
{
    struct latency_request *other = NULL;

    for (struct latency_request *at = *place_of(r, number); at != NULL; at = at->next) {
        if (at->number != number)
            continue;
        if (at->pid == pid)
            return at;
        other = other == NULL ? at : other;
    }
    return other;
}

/* The thread works for its request no longer. */
static void detach(struct latency_requests *r, struct latency_thread *thread, uint64_t time)
{
    struct latency_work *work = &thread->work;
    struct latency_request *request = work->request;

    if (request == NULL)
        return;
    latency_request_steps_left(r, thread, time);
    if (work->next != NULL)
        work->next->work.before = work->before;
    if (work->before != NULL)
        work->before->work.next = work->next;
    else
        request->threads = work->next;
    if (request->threads == NULL)
        request->alone = time;
    *work = (struct latency_work){0};
}

static void attach(struct latency_requests *r, struct latency_thread *thread,
                   struct latency_request *request, uint64_t time)
{
    struct latency_work *work = &thread->work;

    detach(r, thread, time);
    if (request->threads == NULL && time > request->alone)
        request->queued += time - request->alone;
    *work = (struct latency_work){.request = request, .next = request->threads, .since = time};
    memcpy(work->spent, thread->spent, sizeof work->spent);
    if (work->next != NULL)
        work->next->work.before = thread;
    request->threads = thread;
    request->thread_count++;
}

/* It is open no longer. */
static void close_request(struct latency_requests *r, struct latency_request *request,
                          uint64_t time)
{
    while (request->threads != NULL)
        detach(r, request->threads, time);
    if (request->next != NULL)
        request->next->before = request->before;
    if (request->before != NULL)
        request->before->next = request->next;
    else
        *place_of(r, request->number) = request->next;
    r->open_count--;
    r->step_count -= request->step_count;
}

/* Keeps it if it is one of the slowest. */
static bool keep(struct latency_requests *r, struct latency_request *request)
{
    uint64_t ticks = request->end - request->begin;
    uint32_t at = r->kept_count;

    if (!r->keeps ||
        (at == r->wanted && (at == 0 || r->kept[at - 1]->end - r->kept[at - 1]->begin >= ticks)))
        return false;
    if (at == r->wanted)
        free_request(r->kept[--at]);
    else
        r->kept_count++;
    for (; at > 0 && r->kept[at - 1]->end - r->kept[at - 1]->begin < ticks; at--)
        r->kept[at] = r->kept[at - 1];
    r->kept[at] = request;
    return true;
}

static void add_to_tail(struct latency_requests *r, const struct latency_request *request)
{
    uint64_t ticks = request->end - request->begin;

    if (!r->tails || ticks <= r->tail.above)
        return;
    latency_tail_call(&r->tail, ticks, request->spent);
    latency_values_sum(&r->tail.queued, request->queued);
    for (uint32_t i = 0; i < request->step_count; i++) {
        const struct latency_request_step *step = &request->steps[i];

        if (step->kind == LATENCY_REQUEST_WAIT &&
            latency_tail_wait(&r->tail, &step->wait, step->wait.ticks) != 0)
            r->error = -ENOMEM;
    }
}

static void end(struct latency_requests *r, struct latency_request *request, uint64_t time)
{
    if (request->threads == NULL && time > request->alone)
        request->queued += time - request->alone;
    request->end = time > request->begin ? time : request->begin;
    close_request(r, request, time);
    if (latency_values_add(&r->pool, &r->ticks, request->end - request->begin) != 0)
        r->error = -ENOMEM;
    for (uint32_t i = 0; i < LATENCY_SPENT; i++)
        latency_values_sum(&r->spent[i], request->spent[i]);
    latency_values_sum(&r->queued, request->queued);
    add_to_tail(r, request);
    if (!keep(r, request))
        free_request(request);
}

static void begin(struct latency_requests *r, struct latency_thread *thread,
                  const struct hr_rec_request *record, uint32_t pid)
{
    struct latency_request *request = find(r, record->request, pid), **place;

    if (request != NULL && request->pid == pid) {
        r->unended++;
        close_request(r, request, record->time);
        free_request(request);
    }
    detach(r, thread, record->time);
    if (r->has_only && record->request != r->only)
        return;
    request = r->open_count < LATENCY_REQUESTS_OPEN_MAX ? calloc(1, sizeof *request) : NULL;
    if (request == NULL) {
        r->refused++;
        return;
    }
    place = place_of(r, record->request);
    request->number = record->request;
    request->pid = pid;
    request->begin = request->alone = record->time;
    request->next = *place;
    if (*place != NULL)
        (*place)->before = request;
    *place = request;
    r->open_count++;
    attach(r, thread, request, record->time);
    latency_request_steps_said(r, request, record);
}

/* A request that is not followed is no stray. */
static void count_stray(struct latency_requests *r, const struct hr_rec_request *record)
{
    if (r->has_only && record->request != r->only)
        return;
    r->strays += record->kind == HR_REQUEST_END;
    r->stray_joins += record->kind == HR_REQUEST_JOIN;
}

static void take(void *context, struct latency_thread *thread, const struct hr_rec_request *record)
{
    struct latency_requests *r = context;
    uint32_t pid = trace_processes_pid(&r->info->processes, record->tid, record->time);
    struct latency_request *request;

    if (record->kind == HR_REQUEST_BEGIN) {
        begin(r, thread, record, pid);
        return;
    }
    if (record->kind == HR_REQUEST_LEAVE || record->kind == HR_REQUEST_BLOCK) {
        if (thread->work.request != NULL)
            latency_request_steps_said(r, thread->work.request, record);
        detach(r, thread, record->time);
        return;
    }
    request = find(r, record->request, pid);
    if (request == NULL) {
        count_stray(r, record);
        if (record->kind == HR_REQUEST_JOIN)
            detach(r, thread, record->time);
        return;
    }
    if (record->kind == HR_REQUEST_JOIN)
        attach(r, thread, request, record->time);
    latency_request_steps_said(r, request, record);
    if (record->kind == HR_REQUEST_END)
        end(r, request, record->time);
}

static void exited(void *context, struct latency_thread *thread, uint64_t time)
{
    detach(context, thread, time);
}

/* What is open is given up; returns how many these are. */
static uint64_t give_up(struct latency_requests *r)
{
    uint64_t count = r->open_count;

    for (uint32_t i = 0; r->table != NULL && r->open_count != 0 && i < 1u << BITS; i++)
        while (r->table[i] != NULL) {
            struct latency_request *request = r->table[i];

            close_request(r, request, request->begin);
            free_request(request);
        }
    return count;
}

static void lose(void *context)
{
    struct latency_requests *r = context;

    r->unknown += give_up(r);
}

void latency_requests_finish(struct latency_requests *r)
{
    r->unended += give_up(r);
}

static void returned(void *context, const struct latency_call *call)
{
    latency_request_steps_returned(context, call);
}

static void waited(void *context, struct latency_thread *thread, const struct latency_wait *wait)
{
    latency_request_steps_waited(context, thread, wait);
}

struct latency_follower latency_requests_follower(struct latency_requests *r)
{
    struct latency_follower follower = {
        .context = r, .request = take, .exited = exited, .loss = lose};

    if (r->keeps || r->tails) {
        follower.returned = returned;
        follower.waited = waited;
    }
    return follower;
}

struct again {
    struct latency_requests requests;
    struct latency_threads threads;
    struct trace_scan scan;
};

static int begin_again(void *context)
{
    struct again *again = context;
    int error;

    again->threads.follower = latency_requests_follower(&again->requests);
    error = latency_threads_init(&again->threads, &again->scan.info);
    return error == 0 ? latency_requests_init(&again->requests, &again->scan.info) : error;
}

int latency_requests_read_tail(struct latency_requests *r, const struct trace_scan *scan)
{
    struct again again = {.requests = {.tails = true}};
    struct latency_sink sink = latency_threads_sink(&again.threads);
    int error = trace_scan_again(&again.scan, scan);

    if (error != 0)
        return error;
    latency_tail_begin(&again.requests.tail, &r->ticks);
    error = latency_order_run(&again.scan, begin_again, &again, &sink);
    if (error == 0)
        error = again.requests.error;
    r->tail = again.requests.tail;
    again.requests.tail = (struct latency_tail){0};
    latency_requests_free(&again.requests);
    latency_threads_free(&again.threads);
    trace_scan_close(&again.scan);
    return error;
}
