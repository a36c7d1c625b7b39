/* Reads a trace for `hr latency`. */
#include "host/latency/latency_read.h"

#include "host/base/commands.h"
#include "host/base/error.h"
#include "host/latency/latency_find.h"

#define WRONG_FUNCTION 1 /* of `begin`: there is none of that name */

struct start { /* of a reading */
    struct latency_reading *reading;
    struct trace_scan *scan;
};

static void returned(void *context, const struct latency_call *call)
{
    struct latency_reading *r = context;

    latency_rows_returned(&r->rows, call);
    if (r->detail.function != TRACE_POINTS_NONE)
        latency_detail_returned(&r->detail, call);
}

static void lost(void *context, const struct latency_thread *thread, uint32_t slot,
                 enum invocations_end end)
{
    struct latency_reading *r = context;

    latency_rows_lost(&r->rows, thread, slot, end);
    latency_detail_lost(&r->detail, thread, slot);
}

static void entered(void *context, struct latency_thread *thread, uint32_t slot)
{
    latency_detail_entered(&((struct latency_reading *)context)->detail, thread, slot);
}

static void waited(void *context, struct latency_thread *thread, const struct latency_wait *wait)
{
    latency_detail_waited(&((struct latency_reading *)context)->detail, thread, wait);
}

/* Finds the function that is wanted; 0, or WRONG_FUNCTION. */
static int find_function(const struct latency_reading *r, const struct trace_points *points,
                         uint32_t *function)
{
    *function = TRACE_POINTS_NONE;
    if (r->function == NULL)
        return 0;
    *function = latency_find(points, r->function);
    return *function != TRACE_POINTS_NONE ? 0 : WRONG_FUNCTION;
}

static int begin_requests(struct latency_reading *r, const struct trace_info *info)
{
    int error;

    r->requests.keeps = r->slowest != 0;
    r->requests.wanted = (uint32_t)r->slowest;
    error = latency_requests_init(&r->requests, info);
    r->threads.follower = latency_requests_follower(&r->requests);
    return error == 0 ? latency_threads_init(&r->threads, info) : error;
}

/* The trace has said what is probed. */
static int begin(void *context)
{
    const struct start *start = context;
    struct latency_reading *r = start->reading;
    const struct trace_info *info = &start->scan->info;
    uint32_t function;
    int error = find_function(r, &info->points, &function);

    if (r->by == LATENCY_BY_REQUEST)
        return begin_requests(r, info);
    r->rows.only = function;
    r->rows.by = r->by;
    r->rows.with_counters = r->counters;
    r->threads.follower =
        (struct latency_follower){.context = r, .returned = returned, .lost = lost};
    if (r->worst == 0 && !r->correlates)
        function = TRACE_POINTS_NONE;
    if (function != TRACE_POINTS_NONE) {
        r->threads.follower.entered = entered;
        r->threads.follower.waited = waited;
    }
    if (error == 0)
        error = latency_threads_init(&r->threads, info);
    if (error == 0)
        error = latency_rows_init(&r->rows, info);
    if (error == 0)
        error = latency_detail_init(&r->detail, info, function, (uint32_t)r->worst);
    return error;
}

int latency_read_no_probes(const char *path)
{
    return error_exit(HR_EXIT_FAILED, "%s: no probes; place some with 'hr run --probe FUNCTION'",
                      path);
}

static int say_wrong(const struct latency_reading *r, const struct trace_scan *scan,
                     const char *path)
{
    if (!scan->info.points.any)
        return latency_read_no_probes(path);
    return error_exit(HR_EXIT_USAGE,
                      "%s: no probe of that name; the trace has %u, 'hr latency' shows them",
                      r->function, trace_points_count(&scan->info.points));
}

static int finish_requests(struct latency_reading *r, const struct trace_scan *scan)
{
    int error;

    latency_requests_finish(&r->requests);
    latency_threads_finish(&r->threads);
    error = r->requests.error;
    if (error == 0 && r->tail && r->requests.ticks.count != 0)
        error = latency_requests_read_tail(&r->requests, scan);
    return error;
}

int latency_read(struct latency_reading *r, struct trace_scan *scan, const char *path,
                 enum latency_sort sort)
{
    struct start start = {r, scan};
    struct latency_sink sink = latency_threads_sink(&r->threads);
    int result = latency_order_run(scan, begin, &start, &sink);

    if (result == WRONG_FUNCTION)
        return say_wrong(r, scan, path);
    if (result != 0)
        return result;
    if (r->by == LATENCY_BY_REQUEST)
        return finish_requests(r, scan);
    latency_threads_finish(&r->threads);
    latency_rows_sort(&r->rows, sort);
    if (r->detail.function != TRACE_POINTS_NONE)
        result = latency_detail_finish(&r->detail);
    if (result == 0)
        result = r->rows.error != 0 ? r->rows.error : r->detail.error;
    if (result == 0 && r->tail)
        result = latency_tails_read(&r->tails, &r->rows, scan);
    return result;
}

void latency_read_free(struct latency_reading *r)
{
    latency_requests_free(&r->requests); /* it knows the threads */
    latency_tails_free(&r->tails);
    latency_detail_free(&r->detail);
    latency_rows_free(&r->rows);
    latency_threads_free(&r->threads);
}
