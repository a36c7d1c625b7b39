/* Writes invocations and waits as slices of their threads, with arrows from who woke whom, and
 * requests as slices of tracks of their own. */
#include "host/export/perfetto/perfetto_follow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/base/error.h"
#include "host/follow/follow_locks.h"
#include "host/latency/latency_find.h"
#include "host/latency/latency_waits.h"
#include "lib/program/syscall_names.h"

#define LANES_MAX 1024u /* requests at a time; further ones are left out */
#define ARGUMENTS_MAX (2 + HR_PROBE_ARGUMENTS_MAX + LATENCY_SPENT + HR_EVENTS_MAX)

struct followed {
    struct perfetto_packets *packets;
    const struct trace_info *info;
    struct follow_locks locks;
    const struct trace_points *points; /* of the walk */
    char **labels; /* of its functions; owned */
    uint32_t label_count;
    uint64_t lanes[LANES_MAX]; /* serials of the requests that are open */
    uint64_t flows; /* arrows of waits */
    uint64_t left_out;
};

static uint64_t ns_at(const struct followed *f, uint64_t time)
{
    return trace_info_time_ns(f->info, time);
}

static int result_of(const struct followed *f)
{
    return f->packets->message.error != 0 ? f->packets->message.error
                                          : row_team_error(f->packets->team);
}

static uint64_t thread_track(const struct followed *f, uint32_t tid, uint64_t time)
{
    perfetto_packets_thread(f->packets, tid, time);
    return perfetto_packets_uuid(PERFETTO_THREAD, tid);
}

/* A thread's slices nest; those of another stack, such as a coroutine's, need not. */
static uint64_t track_of(const struct followed *f, const struct follow_call *call)
{
    uint64_t thread = thread_track(f, call->tid, call->start), uuid;
    char name[64];

    if (call->stack == 0)
        return thread;
    uuid = perfetto_packets_uuid(PERFETTO_STACK, call->tid) | (uint64_t)call->stack << 40;
    snprintf(name, sizeof name, "thread %u, stack %u", call->tid, call->stack + 1);
    perfetto_packets_once(f->packets, uuid, thread, name);
    return uuid;
}

static const char *label_of(struct followed *f, uint32_t function)
{
    if (function >= f->label_count)
        return "?"; /* described after the first hits */
    if (f->labels[function] == NULL)
        f->labels[function] = latency_find_label(f->points, function);
    return f->labels[function] != NULL ? f->labels[function] : "?";
}

static int begin(void *context, const struct trace_info *info)
{
    struct followed *f = context;

    f->points = &info->points;
    f->label_count = info->points.meta.function_count;
    f->labels = calloc(f->label_count + 1ul, sizeof f->labels[0]);
    return f->labels != NULL ? 0 : -ENOMEM;
}

static int enter(void *context, const struct follow_call *call)
{
    static const char *const names[HR_PROBE_ARGUMENTS_MAX] = {
        "argument1", "argument2", "argument3", "argument4", "argument5", "argument6"};
    struct followed *f = context;
    struct perfetto_argument arguments[HR_PROBE_ARGUMENTS_MAX];
    struct perfetto_details details = {.arguments = arguments};

    for (; details.count < f->points->meta.argument_count; details.count++)
        arguments[details.count] = (struct perfetto_argument){
            .name = names[details.count], .number = call->arguments[details.count]};
    perfetto_packets_detailed(f->packets, ns_at(f, call->start), PERFETTO_SLICE_BEGIN,
                              track_of(f, call), label_of(f, call->function), &details);
    return result_of(f);
}

static uint32_t add_number(struct perfetto_argument *arguments, uint32_t count, const char *name,
                           uint64_t number)
{
    arguments[count] = (struct perfetto_argument){.name = name, .number = number};
    return count + 1;
}

/* Of one that returned. */
static uint32_t figures(const struct followed *f, const struct follow_call *call,
                        struct perfetto_argument *arguments, char words[HR_EVENTS_MAX][64])
{
    static const char *const spent[LATENCY_SPENT] = {"on_cpu_ns",  "locks_ns", "conditions_ns",
                                                     "joins_ns",   "io_ns",    "pages_ns",
                                                     "for_cpu_ns", "sleep_ns", "other_ns"};
    uint32_t count = 0, events = latency_order_events(f->info);

    if (f->points->meta.argument_count != 0)
        count = add_number(arguments, count, "result", call->result);
    count = add_number(arguments, count, "own_ns", trace_info_ns(f->info, call->own));
    for (uint32_t i = 0; i < LATENCY_SPENT; i++)
        if (call->spent[i] != 0)
            count = add_number(arguments, count, spent[i], trace_info_ns(f->info, call->spent[i]));
    for (uint32_t i = 0; i < events && i < HR_EVENTS_MAX; i++)
        count = add_number(arguments, count, trace_info_event_word(f->info, i, words[i]),
                           call->counters[i]);
    return count;
}

static int leave(void *context, const struct follow_call *call)
{
    struct followed *f = context;
    struct perfetto_argument arguments[ARGUMENTS_MAX];
    char words[HR_EVENTS_MAX][64];
    struct perfetto_details details = {.arguments = arguments, .count = 1};

    if (call->how == INVOCATIONS_RETURNED)
        details.count = figures(f, call, arguments, words);
    else
        arguments[0] = (struct perfetto_argument){
            .name = "ending", .text = call->how == INVOCATIONS_LEFT ? "left" : "unknown"};
    perfetto_packets_detailed(f->packets, ns_at(f, call->end), PERFETTO_SLICE_END,
                              track_of(f, call), NULL, &details);
    return result_of(f);
}

/* An arrow from the waker to the thread that it woke. */
static void put_arrow(struct followed *f, const struct follow_wait *wait, uint64_t track)
{
    struct perfetto_details details = {.flow = 2 * ++f->flows};
    uint64_t waker = thread_track(f, wait->waker, wait->woken);
    char name[64];

    snprintf(name, sizeof name, "wakes thread %u", wait->tid);
    perfetto_packets_detailed(f->packets, ns_at(f, wait->woken), PERFETTO_INSTANT, waker, name,
                              &details);
    details.flow_ends = true;
    snprintf(name, sizeof name, "woken by thread %u", wait->waker);
    perfetto_packets_detailed(f->packets, ns_at(f, wait->to), PERFETTO_INSTANT, track, name,
                              &details);
}

static int put_wait(void *context, const struct follow_wait *wait)
{
    struct followed *f = context;
    const char *call = wait->number != HR_WAIT_NO_CALL ? syscall_name(wait->number) : NULL;
    const char *lock = follow_locks_name(&f->locks, wait), *what = lock != NULL ? lock : call;
    uint64_t track = thread_track(f, wait->tid, wait->from);
    const struct perfetto_argument arguments[] = {
        {.name = "kind", .text = latency_waits_names[wait->spent]},
        {.name = "syscall", .text = call != NULL ? call : "none"},
        {.name = "address", .number = wait->address},
    };
    char name[WAIT_NAME_BYTES + 64];

    snprintf(name, sizeof name, "waits: %s%s%s", latency_waits_words[wait->spent],
             what != NULL ? ", " : "", what != NULL ? what : "");
    perfetto_packets_detailed(f->packets, ns_at(f, wait->from), PERFETTO_SLICE_BEGIN, track, name,
                              &(struct perfetto_details){.arguments = arguments, .count = 3});
    if (wait->ready != 0) { /* a slice inside */
        perfetto_packets_event(f->packets, ns_at(f, wait->woken), PERFETTO_SLICE_BEGIN, track,
                               "waits: for a CPU");
        perfetto_packets_event(f->packets, ns_at(f, wait->to), PERFETTO_SLICE_END, track, NULL);
    }
    perfetto_packets_event(f->packets, ns_at(f, wait->to), PERFETTO_SLICE_END, track, NULL);
    if (wait->waker != 0)
        put_arrow(f, wait, track);
    return result_of(f);
}

/* The track with the request of a serial (0: with none); LANES_MAX: there is none. */
static uint32_t find_lane(const struct followed *f, uint64_t serial)
{
    uint32_t lane = 0;

    while (lane < LANES_MAX && f->lanes[lane] != serial)
        lane++;
    return lane;
}

static int begin_request(void *context, const struct follow_request *request)
{
    struct followed *f = context;
    uint32_t lane = find_lane(f, 0);
    uint64_t uuid = perfetto_packets_uuid(PERFETTO_REQUESTS, lane);
    char name[48];

    if (lane == LANES_MAX) {
        f->left_out++;
        return 0;
    }
    f->lanes[lane] = request->serial;
    perfetto_packets_once(f->packets, uuid, 0, "requests");
    snprintf(name, sizeof name, "request %lu", request->number);
    perfetto_packets_event(f->packets, ns_at(f, request->start), PERFETTO_SLICE_BEGIN, uuid, name);
    return result_of(f);
}

static int end_request(void *context, const struct follow_request *request)
{
    struct followed *f = context;
    uint32_t lane = find_lane(f, request->serial);
    const struct perfetto_argument arguments[] = {
        {.name = "worked_ns", .number = trace_info_ns(f->info, request->worked)},
        {.name = "blocked_ns", .number = trace_info_ns(f->info, request->blocked)},
        {.name = "ending", .text = request->ended ? "ended" : "unknown"},
    };

    if (lane == LANES_MAX)
        return 0;
    f->lanes[lane] = 0;
    perfetto_packets_detailed(f->packets, ns_at(f, request->end), PERFETTO_SLICE_END,
                              perfetto_packets_uuid(PERFETTO_REQUESTS, lane), NULL,
                              &(struct perfetto_details){.arguments = arguments, .count = 3});
    return result_of(f);
}

/* What a thread does for a request, with an arrow to the next one; or that none works for it. */
static int put_span(void *context, const struct follow_span *span)
{
    struct followed *f = context;
    uint32_t lane = find_lane(f, span->serial);
    uint64_t thread, uuid = perfetto_packets_uuid(PERFETTO_REQUESTS, lane);
    struct perfetto_details details = {0};
    char name[64] = "waits for a thread";

    if (span->tid != 0) {
        thread = thread_track(f, span->tid, span->from);
        uuid = perfetto_packets_uuid(PERFETTO_WORK, span->tid);
        snprintf(name, sizeof name, "thread %u: requests", span->tid);
        perfetto_packets_once(f->packets, uuid, thread, name);
        snprintf(name, sizeof name, "request %lu", span->number);
        details.flow = 2 * span->serial + 1;
    } else if (lane == LANES_MAX) {
        return 0;
    }
    perfetto_packets_detailed(f->packets, ns_at(f, span->from), PERFETTO_SLICE_BEGIN, uuid, name,
                              &details);
    perfetto_packets_event(f->packets, ns_at(f, span->to), PERFETTO_SLICE_END, uuid, NULL);
    return result_of(f);
}

static int walk(struct followed *f)
{
    const struct follow_visitor visitor = {.context = f,
                                           .begin = begin,
                                           .entered = enter,
                                           .ended = leave,
                                           .waited = put_wait,
                                           .requested = begin_request,
                                           .answered = end_request,
                                           .worked = put_span};
    struct export *e = f->packets->e;
    struct follow_sums sums;
    int error = follow_locks_init(&f->locks, e->symbols, &e->info);

    if (error == 0)
        error = follow_run(&e->scan, &visitor, &sums);
    for (uint32_t i = 0; f->labels != NULL && i < f->label_count; i++)
        free(f->labels[i]);
    free(f->labels);
    if (error != 0)
        return error;
    e->followed = sums.calls + sums.waits + sums.requests;
    if (sums.refused + f->left_out != 0)
        error_print("%s: %lu threads, requests or hits are left out: there are too many",
                    e->options->reader.path, sums.refused + f->left_out);
    return 0;
}

int perfetto_follow(struct perfetto_packets *packets, bool any)
{
    const struct trace_info *info = &packets->e->info;
    struct followed *f;
    int error;

    if (!info->points.any && !any)
        return 0;
    f = calloc(1, sizeof *f);
    if (f == NULL)
        return -ENOMEM;
    f->packets = packets;
    f->info = info;
    error = walk(f);
    follow_locks_free(&f->locks);
    free(f);
    return error;
}
