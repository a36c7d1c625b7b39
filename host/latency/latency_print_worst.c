/* Prints the longest invocations of a function. */
#include <inttypes.h>
#include <stdlib.h>

#include "host/base/text.h"
#include "host/latency/latency_print_detail.h"
#include "host/latency/latency_print_waits.h"
#include "host/latency/latency_waits.h"
#include "lib/program/syscall_names.h"

#define STEPS_SHOWN 40u /* of an invocation */

static double ns(const struct latency_print *p, uint64_t ticks)
{
    return (double)trace_info_ns(p->info, ticks);
}

/* Writes a function's name, safe for a terminal. */
static const char *name_of(const struct latency_print *p, uint32_t function, char room[256])
{
    char *name = latency_print_name(p, function);

    text_escape(room, 256, name != NULL ? name : "");
    free(name);
    return room;
}

static const char *call_of(const struct latency_wait *wait, char room[24])
{
    const char *name = syscall_name(wait->number);

    if (wait->number == UINT32_MAX)
        return "";
    if (name != NULL)
        return name;
    snprintf(room, 24, "system call %u", wait->number);
    return room;
}

/* An invocation's part, less that of the median one. */
struct excess {
    uint32_t column;
    uint64_t ticks, typical;
    double more;
};

/* Finds the wait or the callee that has grown most; column LATENCY_COLUMNS: none has. */
static struct excess largest_excess(const struct latency_detail *d, const uint64_t *row,
                                    uint32_t first, uint32_t end)
{
    struct excess most = {.column = LATENCY_COLUMNS};

    for (uint32_t i = first; i < end; i++) {
        uint64_t typical = d->medians[i];
        double more = (double)row[i] - (double)typical;

        if (more > most.more)
            most = (struct excess){i, row[i], typical, more};
    }
    return most;
}

/* The parts of a long invocation, in the columns of the sample. */
static void fill_row(const struct latency_detail *d, const struct latency_long *l, uint64_t *row)
{
    uint64_t begin = UINT64_MAX;

    for (uint32_t i = 0; i < LATENCY_COLUMNS; i++)
        row[i] = 0;
    row[LATENCY_TICKS] = l->ticks;
    row[LATENCY_OWN] = l->own;
    for (uint32_t i = 0; i < LATENCY_SPENT; i++)
        row[LATENCY_FIRST_SPENT + i] = l->spent[i];
    for (uint32_t i = 0; i < d->event_count; i++)
        row[LATENCY_FIRST_EVENT + i] = l->counters[i];
    for (uint32_t i = l->step_count; i-- > 0;) {
        const struct latency_step *step = &l->steps[i];

        if (!step->is_call || step->to > begin)
            continue;
        begin = step->from;
        for (uint32_t n = 0; n < d->callee_count; n++)
            if (d->callees[n] == step->function)
                row[LATENCY_FIRST_CALLEE + n] += step->to - step->from;
    }
}

/* The event that has grown most against its median; -1: none has, by a tenth. */
static int grown_event(const struct latency_detail *d, const uint64_t *row, double *times)
{
    int event = -1;

    *times = 1.1;
    for (uint32_t i = 0; i < d->event_count; i++) {
        uint64_t typical = d->medians[LATENCY_FIRST_EVENT + i];
        double ratio = typical != 0 ? (double)row[LATENCY_FIRST_EVENT + i] / (double)typical : 0;

        if (ratio > *times) {
            *times = ratio;
            event = (int)i;
        }
    }
    return event;
}

/* It computed longer: which event has grown with that? */
static void say_event(const struct latency_print *p, const struct latency_detail *d,
                      const uint64_t *row, char *text, size_t room)
{
    char word[64];
    double times;
    int event = grown_event(d, row, &times);

    if (event >= 0)
        snprintf(text, room, "It computed longer: %.3g times the median's %s.", times,
                 trace_info_event_word(p->info, (uint32_t)event, word));
    else
        snprintf(text, room, "It computed longer, and no event explains why.");
}

/* "80 %", or "all" of what the invocation is longer than the median one. */
static const char *share_of(double more, double excess, char room[16])
{
    if (more >= 0.995 * excess)
        return "all";
    snprintf(room, 16, "%.0f %%", 100 * more / excess);
    return room;
}

/* Finds the wait that was longest in all, for one thing and for one thread in one function; 0
 * ticks: there is none of that kind. */
static struct latency_blame longest_wait(const struct latency_long *l, uint32_t spent)
{
    struct latency_tail tail = {0};

    for (uint32_t i = 0; i < l->step_count; i++)
        if (!l->steps[i].is_call && l->steps[i].wait.spent == spent &&
            latency_tail_wait(&tail, &l->steps[i].wait, l->steps[i].wait.ticks) != 0)
            break;
    return latency_tail_take_longest(&tail);
}

/* It waited: for what, for whom? */
static void say_wait(const struct latency_print *p, const struct latency_long *l,
                     const struct excess *wait, double excess, char *text, size_t room)
{
    char a[TEXT_QUANTITY_BYTES], b[TEXT_QUANTITY_BYTES], c[TEXT_QUANTITY_BYTES], share[16];
    char what[WAIT_NAME_BYTES], holder[LATENCY_HOLDER_BYTES] = "";
    struct latency_blame longest = longest_wait(l, wait->column - LATENCY_FIRST_SPENT);
    bool one = 2 * longest.ticks > wait->ticks; /* that explains most */
    double more = one && (double)longest.ticks < wait->more ? (double)longest.ticks : wait->more;

    text_time(a, ns(p, one ? longest.ticks : wait->ticks));
    text_time(b, ns(p, l->ticks));
    text_time(c, ns(p, wait->typical));
    if (one)
        latency_print_holder(p, &longest.wait, holder);
    snprintf(text, room, "It waited %s of %s %s%s: %s of what it is longer; the median waits %s.",
             a, b,
             one ? latency_print_wait(p, &longest.wait, what)
                 : latency_waits_after[wait->column - LATENCY_FIRST_SPENT],
             holder, share_of(more, excess, share), c);
}

/* One sentence on what is unusual. */
static void put_sentence(const struct latency_print *p, const struct latency_detail *d,
                         const struct latency_long *l, char *text, size_t room)
{
    double excess = (double)l->ticks - (double)d->medians[LATENCY_TICKS];
    char a[TEXT_QUANTITY_BYTES], b[TEXT_QUANTITY_BYTES], name[256], share[16];
    uint64_t row[LATENCY_COLUMNS];
    struct excess wait, callee;

    fill_row(d, l, row);
    wait = largest_excess(d, row, LATENCY_FIRST_SPENT + 1, LATENCY_FIRST_CALLEE);
    callee = largest_excess(d, row, LATENCY_FIRST_CALLEE, LATENCY_FIRST_EVENT);
    text_time(a, ns(p, callee.ticks));
    text_time(b, ns(p, callee.typical));
    if (excess <= 0)
        snprintf(text, room, "Nothing is unusual: it is no longer than the median.");
    else if (wait.more >= 0.5 * excess)
        say_wait(p, l, &wait, excess, text, room);
    else if (callee.more >= 0.5 * excess)
        snprintf(text, room, "It was in %s for %s: %s of what it is longer; the median is %s.",
                 name_of(p, d->callees[callee.column - LATENCY_FIRST_CALLEE], name), a,
                 share_of(callee.more, excess, share), b);
    else
        say_event(p, d, row, text, room);
}

static int by_start(const void *a, const void *b)
{
    const struct latency_step *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to > y->to ? -1 : x->to < y->to;
}

static void print_step(FILE *out, const struct latency_print *p, const struct latency_long *l,
                       const struct latency_step *step, uint32_t depth)
{
    char after[TEXT_QUANTITY_BYTES], length[TEXT_QUANTITY_BYTES], name[256];
    char what[WAIT_NAME_BYTES], holder[LATENCY_HOLDER_BYTES], ready[LATENCY_READY_BYTES];

    fprintf(out, "  +%-10s %-10s %*s", text_time(after, ns(p, step->from - l->time)),
            text_time(length, ns(p, step->is_call ? step->to - step->from : step->wait.ticks)),
            (int)(2 * depth), "");
    if (step->is_call) {
        fprintf(out, "%s\n", name_of(p, step->function, name));
        return;
    }
    fprintf(out, "waits %s%s%s\n", latency_print_wait(p, &step->wait, what),
            latency_print_holder(p, &step->wait, holder),
            latency_print_ready(p, &step->wait, ready));
}

/* Steps by their starts; those that lie in a call are indented. */
static void print_steps(FILE *out, const struct latency_print *p, const struct latency_long *l)
{
    uint64_t ends[64];
    uint32_t depth = 0;

    qsort(l->steps, l->step_count, sizeof l->steps[0], by_start);
    for (uint32_t i = 0; i < l->step_count && i < STEPS_SHOWN; i++) {
        const struct latency_step *step = &l->steps[i];

        while (depth != 0 && step->from >= ends[depth - 1])
            depth--;
        print_step(out, p, l, step, depth);
        if (step->is_call && depth < sizeof ends / sizeof ends[0])
            ends[depth++] = step->to;
    }
    if (l->step_count > STEPS_SHOWN || l->cut != 0)
        fprintf(out, "  and %lu steps more\n",
                (l->step_count > STEPS_SHOWN ? l->step_count - STEPS_SHOWN : 0) + l->cut);
}

static void print_counters(FILE *out, const struct latency_print *p, const struct latency_detail *d,
                           const struct latency_long *l)
{
    char count[TEXT_QUANTITY_BYTES], median[TEXT_QUANTITY_BYTES], word[64], name[256];

    for (uint32_t i = 0; i < p->rows->event_count; i++)
        fprintf(out, "  %-24s %15s  median %15s\n",
                text_escape(name, sizeof name, trace_info_event_word(p->info, i, word)),
                text_count(count, l->counters[i]),
                text_count(median, d->medians[LATENCY_FIRST_EVENT + i]));
}

void latency_print_worst(FILE *out, const struct latency_print *p, const struct latency_detail *d)
{
    char start[TEXT_QUANTITY_BYTES], length[TEXT_QUANTITY_BYTES], own[TEXT_QUANTITY_BYTES];
    char median[TEXT_QUANTITY_BYTES], name[256], text[1024];

    for (uint32_t i = 0; i < d->worst_count; i++) {
        const struct latency_long *l = &d->worst[i];

        fprintf(out, "%s%u. %s at %s, thread %u: %s, own %s; median %s\n", i != 0 ? "\n" : "",
                i + 1, name_of(p, d->function, name),
                text_time(start, (double)trace_info_time_ns(p->info, l->time)), l->tid,
                text_time(length, ns(p, l->ticks)), text_time(own, ns(p, l->own)),
                text_time(median, ns(p, d->medians[LATENCY_TICKS])));
        if (p->info->points.meta.argument_count != 0) {
            fprintf(out, "  arguments");
            for (uint32_t n = 0; n < p->info->points.meta.argument_count; n++)
                fprintf(out, " 0x%" PRIx64, l->arguments[n]);
            fprintf(out, ", result 0x%" PRIx64 "\n", l->result);
        }
        put_sentence(p, d, l, text, sizeof text);
        fprintf(out, "  %s\n", text);
        print_steps(out, p, l);
        print_counters(out, p, d, l);
    }
}

static void json_wait(struct output *out, const struct latency_print *p,
                      const struct latency_wait *wait)
{
    char room[24];

    output_json_print(out,
                      "\"wait\": %s, \"system_call\": %s, \"address\": %lu, \"duration_ns\": %lu",
                      latency_waits_names[wait->spent], call_of(wait, room), wait->address,
                      trace_info_ns(p->info, wait->ticks));
    latency_print_wait_json(out, p, wait);
    output_char(out, '}');
}

static void json_steps(struct output *out, const struct latency_print *p,
                       const struct latency_long *l)
{
    qsort(l->steps, l->step_count, sizeof l->steps[0], by_start);
    for (uint32_t i = 0; i < l->step_count; i++) {
        const struct latency_step *step = &l->steps[i];
        char *name = step->is_call ? latency_print_name(p, step->function) : NULL;

        output_text(out, i != 0 ? ", " : "");
        output_json_print(out, "{\"after_ns\": %lu, ",
                          trace_info_ns(p->info, step->from - l->time));
        if (step->is_call)
            output_json_print(out, "\"call\": %s, \"duration_ns\": %lu}", name,
                              trace_info_ns(p->info, step->to - step->from));
        else
            json_wait(out, p, &step->wait);
        free(name);
    }
}

void latency_print_worst_json(struct output *out, const struct latency_print *p,
                              const struct latency_detail *d)
{
    char text[1024], room[16], *name = latency_print_name(p, d->function);

    output_json_print(out, "{\"function\": %s, \"median_ns\": %lu, \"worst\": [", name,
                      trace_info_ns(p->info, d->medians[LATENCY_TICKS]));
    free(name);
    for (uint32_t i = 0; i < d->worst_count; i++) {
        const struct latency_long *l = &d->worst[i];

        put_sentence(p, d, l, text, sizeof text);
        output_text(out, i != 0 ? ",\n " : "\n ");
        output_json_print(out,
                          "{\"start_ns\": %lu, \"tid\": %u, \"duration_ns\": %lu, \"own_ns\": %lu, "
                          "\"unusual\": %s, \"spent_ns\": {",
                          trace_info_time_ns(p->info, l->time), l->tid,
                          trace_info_ns(p->info, l->ticks), trace_info_ns(p->info, l->own), text);
        for (uint32_t n = 0; n < LATENCY_SPENT; n++) {
            output_text(out, n != 0 ? ", " : "");
            output_json_print(out, "%s: %lu", latency_waits_names[n],
                              trace_info_ns(p->info, l->spent[n]));
        }
        output_text(out, "}, \"counters\": {");
        for (uint32_t n = 0; n < p->rows->event_count; n++) {
            output_text(out, n != 0 ? ", " : "");
            output_json_print(out, "%s: %lu", trace_info_event_name(p->info, n, room),
                              l->counters[n]);
        }
        output_text(out, "}, \"steps\": [");
        json_steps(out, p, l);
        output_text(out, "]}");
    }
    output_text(out, "]}\n");
}
