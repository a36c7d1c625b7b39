/* Inserts invocations, waits and requests. */
#include "host/export/sqlite/sqlite_probes.h"

#include <stdlib.h>

#include "host/base/error.h"
#include "host/follow/follow_locks.h"
#include "host/latency/latency_find.h"
#include "host/latency/latency_waits.h"
#include "lib/program/syscall_names.h"

struct probes { /* the tables that are being filled */
    struct export *e;
    struct database *db;
    struct follow_locks locks;
    uint32_t event_count, argument_count;
    sqlite3_stmt *call, *wait, *request, *span;
};

/* The parameters of an invocation's columns; the events follow. */
enum { ID = 1, FUNCTION, TID, PID, CPU, START, END, DURATION, OWN, PARENT, DEPTH };
enum { ENDING = DEPTH + 1, REQUEST, RESULT, ARGUMENT };
enum { SPENT = ARGUMENT + HR_PROBE_ARGUMENTS_MAX, EVENT = SPENT + LATENCY_SPENT };

static uint64_t ns_at(const struct probes *p, uint64_t time)
{
    return trace_info_time_ns(&p->e->info, time);
}

static uint64_t ns(const struct probes *p, uint64_t ticks)
{
    return trace_info_ns(&p->e->info, ticks);
}

static void bind_null(sqlite3_stmt *insert, int parameter)
{
    database_bind_text(insert, parameter, NULL);
}

/* Binds a number of another table's row; 0 is none. */
static void bind_row(sqlite3_stmt *insert, int parameter, uint64_t row)
{
    if (row != 0)
        database_bind(insert, parameter, row);
    else
        bind_null(insert, parameter);
}

/* What is known of an invocation that returned alone. */
static void bind_figures(const struct probes *p, const struct follow_call *call)
{
    bool returned = call->how == INVOCATIONS_RETURNED;

    if (!returned) {
        for (int i = 0; i < (int)(LATENCY_SPENT + p->event_count); i++)
            bind_null(p->call, SPENT + i);
        bind_null(p->call, OWN);
        bind_null(p->call, RESULT);
        return;
    }
    database_bind(p->call, OWN, ns(p, call->own));
    if (p->argument_count != 0)
        database_bind(p->call, RESULT, call->result);
    else
        bind_null(p->call, RESULT);
    for (int i = 0; i < LATENCY_SPENT; i++)
        database_bind(p->call, SPENT + i, ns(p, call->spent[i]));
    for (uint32_t i = 0; i < p->event_count; i++)
        database_bind(p->call, EVENT + (int)i, call->counters[i]);
}

static int put_call(void *context, const struct follow_call *call)
{
    static const char *const endings[] = {"returned", "left", "unknown"};
    struct probes *p = context;
    bool known = call->how != INVOCATIONS_UNKNOWN;

    database_bind(p->call, ID, call->number);
    database_bind(p->call, FUNCTION, call->function);
    database_bind(p->call, TID, call->tid);
    database_bind(p->call, PID, trace_processes_pid(&p->e->info.processes, call->tid, call->start));
    database_bind(p->call, CPU, call->cpu);
    database_bind(p->call, START, ns_at(p, call->start));
    bind_null(p->call, END);
    bind_null(p->call, DURATION);
    if (known) {
        database_bind(p->call, END, ns_at(p, call->end));
        database_bind(p->call, DURATION, ns(p, call->end - call->start));
    }
    bind_row(p->call, PARENT, call->outer);
    database_bind(p->call, DEPTH, call->depth);
    database_bind_text(p->call, ENDING, endings[call->how]);
    bind_row(p->call, REQUEST, call->request);
    for (uint32_t i = 0; i < p->argument_count; i++)
        database_bind(p->call, ARGUMENT + (int)i, call->arguments[i]);
    bind_figures(p, call);
    database_put(p->db, p->call);
    return p->db->error;
}

static int put_wait(void *context, const struct follow_wait *wait)
{
    struct probes *p = context;
    const char *call = wait->number != HR_WAIT_NO_CALL ? syscall_name(wait->number) : NULL;

    if (wait->address != 0)
        database_bind(p->wait, 8, wait->address);
    else
        bind_null(p->wait, 8);
    bind_row(p->wait, 10, wait->waker);
    bind_row(p->wait, 11, wait->call);
    bind_row(p->wait, 12, wait->request);
    database_row(p->db, p->wait, "%u,%u,%lu,%lu,%lu,%s,%s,=,%s,=,=,=,%lu", wait->tid,
                 trace_processes_pid(&p->e->info.processes, wait->tid, wait->from),
                 ns_at(p, wait->from), ns_at(p, wait->to), ns(p, wait->ticks),
                 latency_waits_names[wait->spent], call, follow_locks_name(&p->locks, wait),
                 ns(p, wait->ready));
    return p->db->error;
}

static int put_request(void *context, const struct follow_request *request)
{
    struct probes *p = context;

    for (int i = 3; i <= 6; i++)
        bind_null(p->request, i);
    if (request->begun) {
        database_bind(p->request, 3, ns_at(p, request->start));
        database_bind(p->request, 5, request->tid);
    }
    if (request->ended) {
        database_bind(p->request, 4, ns_at(p, request->end));
        database_bind(p->request, 6, request->end_tid);
    }
    database_row(p->db, p->request, "%lu,%lu,=,=,=,=,%lu,%lu", request->serial, request->number,
                 ns(p, request->worked), ns(p, request->blocked));
    return p->db->error;
}

static int put_span(void *context, const struct follow_span *span)
{
    struct probes *p = context;

    bind_row(p->span, 2, span->tid);
    database_row(p->db, p->span, "%lu,=,%lu,%lu,%s", span->serial, ns_at(p, span->from),
                 ns_at(p, span->to), span->tid != 0 ? "works" : "blocked");
    return p->db->error;
}

/* What was probed. */
static int put_probes(void *context, const struct trace_info *info)
{
    const struct trace_points *points = &info->points;
    struct probes *p = context;
    sqlite3_stmt *insert = database_prepare(p->db, "INSERT INTO probes VALUES (?,?,?,?,?,?)");
    char room[24];

    for (uint32_t i = 0; points->any && i < points->meta.function_count; i++) {
        const struct trace_point_function *function = &points->functions[i];
        const char *name = trace_points_name(points, i, room);
        char *label;

        if (trace_points_called(points) && function->called.tid == 0)
            continue; /* a number that no function got */
        label = latency_find_label(points, i);
        database_row(p->db, insert, "%u,%s,%s,%s,%s,%lu", i, function->name,
                     label != NULL ? label : name, function->path,
                     function->meta.kind == HR_PROBE_FUNCTION ? "function" : "place",
                     function->meta.address);
        free(label);
    }
    sqlite3_finalize(insert);
    return p->db->error;
}

static int fill(struct probes *p)
{
    const struct follow_visitor visitor = {.context = p,
                                           .begin = put_probes,
                                           .ended = put_call,
                                           .waited = put_wait,
                                           .answered = put_request,
                                           .worked = put_span};
    struct follow_sums sums;
    int error = follow_locks_init(&p->locks, p->e->symbols, &p->e->info);

    if (error == 0)
        error = follow_run(&p->e->scan, &visitor, &sums);
    if (error == 0)
        p->e->followed = sums.calls + sums.waits + sums.requests;
    if (error == 0 && sums.refused != 0)
        error_print("%s: %lu threads, requests or hits are left out: there are too many",
                    p->e->options->reader.path, sums.refused);
    follow_locks_free(&p->locks);
    return error;
}

int sqlite_probes_fill(struct export *e, struct sqlite_schema *schema, bool any)
{
    const struct trace_points *points = &e->info.points;
    struct probes p = {.e = e,
                       .db = schema->db,
                       .event_count = latency_order_events(&e->info),
                       .argument_count = points->any ? points->meta.argument_count : 0};

    if (!points->any && !any)
        return 0;
    p.call = sqlite_schema_invocations(schema);
    p.wait = database_prepare(p.db, "INSERT INTO waits VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)");
    p.request = database_prepare(p.db, "INSERT INTO requests VALUES (?,?,?,?,?,?,?,?)");
    p.span = database_prepare(p.db, "INSERT INTO request_spans VALUES (?,?,?,?,?)");
    return fill(&p);
}
