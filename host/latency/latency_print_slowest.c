/* Prints single requests as timelines. */
#include <inttypes.h>
#include <stdlib.h>

#include "host/base/text.h"
#include "host/draw/columns.h"
#include "host/latency/latency_print_requests.h"
#include "host/latency/latency_print_waits.h"
#include "host/latency/latency_waits.h"

#define STEPS_SHOWN 60u

static double ns(const struct latency_print *p, uint64_t ticks)
{
    return (double)trace_info_ns(p->info, ticks);
}

static bool is_call(const struct latency_request_step *step)
{
    return step->kind == LATENCY_REQUEST_CALL || step->kind == LATENCY_REQUEST_OPEN;
}

/* In the order of their starts, and what a thread says before what it then does. */
static int rank(const struct latency_request_step *step)
{
    if (step->kind == HR_REQUEST_BEGIN || step->kind == HR_REQUEST_JOIN)
        return 0;
    return is_call(step) ? 1 : step->kind == LATENCY_REQUEST_WAIT ? 2 : 3;
}

static int by_start(const void *a, const void *b)
{
    const struct latency_request_step *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (rank(x) != rank(y))
        return rank(x) - rank(y);
    if (x->to != y->to)
        return x->to > y->to ? -1 : 1;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* How many calls of its thread are around a step. */
static uint32_t depth_of(const struct latency_request *request, uint32_t at)
{
    const struct latency_request_step *step = &request->steps[at];
    uint32_t depth = 0;

    for (uint32_t i = 0; i < at; i++) {
        const struct latency_request_step *other = &request->steps[i];

        depth += is_call(other) && other->tid == step->tid && other->to >= step->to &&
                 other->to > step->from;
    }
    return depth < 32 ? depth : 32;
}

static const char *said(uint32_t kind)
{
    static const char *const words[] = {
        [HR_REQUEST_BEGIN] = "begins it",    [HR_REQUEST_END] = "ends it",
        [HR_REQUEST_JOIN] = "joins it",      [HR_REQUEST_LEAVE] = "leaves it",
        [HR_REQUEST_BLOCK] = "lets it wait",
    };

    return kind < sizeof words / sizeof words[0] && words[kind] != NULL ? words[kind] : "?";
}

static void print_step(FILE *out, const struct latency_print *p,
                       const struct latency_request *request, uint32_t at)
{
    const struct latency_request_step *step = &request->steps[at];
    char after[TEXT_QUANTITY_BYTES], length[TEXT_QUANTITY_BYTES] = "", escaped[256];
    char what[WAIT_NAME_BYTES], holder[LATENCY_HOLDER_BYTES], ready[LATENCY_READY_BYTES], *name;

    if (is_call(step))
        text_time(length, ns(p, step->to - step->from));
    else if (step->kind == LATENCY_REQUEST_WAIT)
        text_time(length, ns(p, step->wait.ticks));
    fprintf(out, "  +%-10s %-10s thread %-5u %*s",
            text_time(after, ns(p, step->from - request->begin)), length, step->tid,
            (int)(2 * depth_of(request, at)), "");
    if (is_call(step)) {
        name = latency_print_name(p, step->function);
        fprintf(out, "%s%s\n", text_escape(escaped, sizeof escaped, name != NULL ? name : ""),
                step->kind == LATENCY_REQUEST_OPEN ? ", which has not returned" : "");
        free(name);
    } else if (step->kind == LATENCY_REQUEST_WAIT) {
        fprintf(out, "waits %s%s%s\n", latency_print_wait(p, &step->wait, what),
                latency_print_holder(p, &step->wait, holder),
                latency_print_ready(p, &step->wait, ready));
    } else {
        fprintf(out, "%s\n", said(step->kind));
    }
}

/* Finds the wait that was longest in all. */
static struct latency_blame longest_wait(const struct latency_request *request)
{
    struct latency_tail tail = {0};

    for (uint32_t i = 0; i < request->step_count; i++)
        if (request->steps[i].kind == LATENCY_REQUEST_WAIT &&
            latency_tail_wait(&tail, &request->steps[i].wait, request->steps[i].wait.ticks) != 0)
            break;
    return latency_tail_take_longest(&tail);
}

/* One sentence: where most of its time went. */
static void put_sentence(const struct latency_print *p, const struct latency_request *request,
                         char *text, size_t room)
{
    char a[TEXT_QUANTITY_BYTES], b[TEXT_QUANTITY_BYTES];
    char what[WAIT_NAME_BYTES], holder[LATENCY_HOLDER_BYTES];
    const struct latency_blame longest = longest_wait(request);
    uint64_t on_cpu = request->spent[LATENCY_ON_CPU];

    text_time(b, ns(p, request->end - request->begin));
    if (request->queued >= longest.ticks && request->queued >= on_cpu)
        snprintf(text, room, "It was queued, without a thread, for %s of %s.",
                 text_time(a, ns(p, request->queued)), b);
    else if (longest.ticks >= on_cpu)
        snprintf(text, room, "It waited %s of %s %s%s.", text_time(a, ns(p, longest.ticks)), b,
                 latency_print_wait(p, &longest.wait, what),
                 latency_print_holder(p, &longest.wait, holder));
    else
        snprintf(text, room, "Its threads computed for %s; it took %s.",
                 text_time(a, ns(p, on_cpu)), b);
}

static void print_request(FILE *out, const struct latency_print *p,
                          const struct latency_requests *r, struct latency_request *request)
{
    char start[TEXT_QUANTITY_BYTES], length[TEXT_QUANTITY_BYTES], median[TEXT_QUANTITY_BYTES];
    char text[1024];
    uint32_t shown = request->step_count < STEPS_SHOWN ? request->step_count : STEPS_SHOWN;

    text_time(median, ns(p, latency_values_at((struct latency_values *)(uintptr_t)&r->ticks, 0.5)));
    fprintf(out, "request %" PRIu64 " at %s: %s; median %s\n", request->number,
            text_time(start, (double)trace_info_time_ns(p->info, request->begin)),
            text_time(length, ns(p, request->end - request->begin)), median);
    put_sentence(p, request, text, sizeof text);
    fprintf(out, "  %s\n", text);
    latency_print_spent(text, sizeof text, request->spent, request->queued);
    fprintf(out, "  %s\n", text);
    if (request->step_count != 0)
        qsort(request->steps, request->step_count, sizeof request->steps[0], by_start);
    for (uint32_t i = 0; i < shown; i++)
        print_step(out, p, request, i);
    if (request->step_count - shown + request->cut != 0)
        fprintf(out, "  and %u steps more\n", request->step_count - shown + request->cut);
}

void latency_print_slowest(FILE *out, const struct latency_print *p, struct latency_requests *r,
                           uint32_t limit)
{
    for (uint32_t i = 0; i < r->kept_count && i < limit; i++) {
        fprintf(out, "%s%u. ", i != 0 ? "\n" : "", i + 1);
        print_request(out, p, r, r->kept[i]);
    }
    if (r->has_only && r->ticks.count > limit)
        columns_note(out, p->columns,
                     "%lu requests have this number; these are the slowest; --limit N shows more",
                     r->ticks.count);
}

static void json_step(struct output *out, const struct latency_print *p,
                      const struct latency_request *request,
                      const struct latency_request_step *step)
{
    char *name;

    output_json_print(out, "{\"after_ns\": %lu, \"tid\": %u, ",
                      trace_info_ns(p->info, step->from - request->begin), step->tid);
    if (is_call(step)) {
        name = latency_print_name(p, step->function);
        output_json_print(out, "\"call\": %s, \"duration_ns\": %lu, \"returned\": %d}", name,
                          trace_info_ns(p->info, step->to - step->from),
                          step->kind == LATENCY_REQUEST_CALL);
        free(name);
    } else if (step->kind == LATENCY_REQUEST_WAIT) {
        output_json_print(out, "\"wait\": %s, \"address\": %lu, \"duration_ns\": %lu",
                          latency_waits_names[step->wait.spent], step->wait.address,
                          trace_info_ns(p->info, step->wait.ticks));
        latency_print_wait_json(out, p, &step->wait);
        output_char(out, '}');
    } else {
        output_json_print(out, "\"says\": %s}", said(step->kind));
    }
}

static void json_request(struct output *out, const struct latency_print *p,
                         struct latency_request *request)
{
    char text[1024];

    put_sentence(p, request, text, sizeof text);
    output_json_print(out,
                      "{\"request\": %lu, \"pid\": %u, \"start_ns\": %lu, \"duration_ns\": %lu, "
                      "\"sentence\": %s, \"spent_ns\": {",
                      request->number, request->pid, trace_info_time_ns(p->info, request->begin),
                      trace_info_ns(p->info, request->end - request->begin), text);
    for (uint32_t i = 0; i < LATENCY_SPENT; i++)
        output_json_print(out, "%s: %lu, ", latency_waits_names[i],
                          trace_info_ns(p->info, request->spent[i]));
    output_json_print(out, "\"queued\": %lu}, \"missing_steps\": %u, \"steps\": [",
                      trace_info_ns(p->info, request->queued), request->cut);
    if (request->step_count != 0)
        qsort(request->steps, request->step_count, sizeof request->steps[0], by_start);
    for (uint32_t i = 0; i < request->step_count; i++) {
        output_text(out, i != 0 ? ", " : "");
        json_step(out, p, request, &request->steps[i]);
    }
    output_text(out, "]}");
}

void latency_print_slowest_json(struct output *out, const struct latency_print *p,
                                struct latency_requests *r, uint32_t limit)
{
    output_json_print(out, "{\"requests\": %lu, \"median_ns\": %lu, \"slowest\": [", r->ticks.count,
                      trace_info_ns(p->info, latency_values_at(&r->ticks, 0.5)));
    for (uint32_t i = 0; i < r->kept_count && i < limit; i++) {
        output_text(out, i != 0 ? ",\n " : "\n ");
        json_request(out, p, r->kept[i]);
    }
    output_text(out, "]}\n");
}
