/* Keeps what happens in a function's invocations until they return. */
#include "host/latency/latency_detail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct log { /* of a thread, while the function is open in it */
    uint32_t open;
    uint32_t count;
    uint64_t cut;
    struct latency_step steps[LATENCY_STEPS_MAX];
};

int latency_detail_init(struct latency_detail *d, const struct trace_info *info, uint32_t function,
                        uint32_t worst_wanted)
{
    *d = (struct latency_detail){.info = info,
                                 .event_count = latency_order_events(info),
                                 .function = function,
                                 .worst_wanted = worst_wanted,
                                 .random = 1};
    if (function == TRACE_POINTS_NONE)
        return 0;
    d->sample = malloc(LATENCY_SAMPLE_MAX * sizeof d->sample[0]);
    d->worst = calloc(worst_wanted + 1u, sizeof d->worst[0]);
    return d->sample != NULL && d->worst != NULL ? 0 : -ENOMEM;
}

void latency_detail_free(struct latency_detail *d)
{
    for (uint32_t i = 0; d->worst != NULL && i < d->worst_count; i++)
        free(d->worst[i].steps);
    free(d->worst);
    free(d->sample);
    *d = (struct latency_detail){0};
}

static void close_one(struct log *log)
{
    if (--log->open == 0) {
        log->count = 0;
        log->cut = 0;
    }
}

void latency_detail_entered(struct latency_detail *d, struct latency_thread *thread, uint32_t slot)
{
    struct log *log;

    if (thread->open.open[slot].function != d->function)
        return;
    if (thread->notes == NULL)
        thread->notes = calloc(1, sizeof *log);
    log = thread->notes;
    if (log == NULL) {
        d->error = -ENOMEM;
        return;
    }
    log->open++;
    thread->entries[slot].mark = log->count;
}

static void add_step(struct log *log, const struct latency_step *step)
{
    if (log->count < LATENCY_STEPS_MAX)
        log->steps[log->count++] = *step;
    else
        log->cut++;
}

void latency_detail_waited(struct latency_detail *d, struct latency_thread *thread,
                           const struct latency_wait *wait)
{
    const struct latency_step step = {.from = wait->from, .to = wait->to, .wait = *wait};
    struct log *log = thread->notes;

    (void)d;
    if (log != NULL && log->open != 0)
        add_step(log, &step);
}

/* The column of a callee; LATENCY_COLUMNS: there is no room. */
static uint32_t column_of(struct latency_detail *d, uint32_t function)
{
    for (uint32_t i = 0; i < d->callee_count; i++)
        if (d->callees[i] == function)
            return LATENCY_FIRST_CALLEE + i;
    if (d->callee_count == LATENCY_CALLEES_MAX) {
        d->callees_cut = true;
        return LATENCY_COLUMNS;
    }
    d->callees[d->callee_count] = function;
    return LATENCY_FIRST_CALLEE + d->callee_count++;
}

/* Adds up the calls that the invocation made itself: from the last one back, what is not inside
 * another. */
static void add_callees(struct latency_detail *d, const struct latency_step *steps, uint32_t count,
                        uint64_t *row)
{
    uint64_t begin = UINT64_MAX;

    for (uint32_t i = count; i-- > 0;) {
        uint32_t column;

        if (!steps[i].is_call || steps[i].to > begin)
            continue;
        begin = steps[i].from;
        column = column_of(d, steps[i].function);
        if (column != LATENCY_COLUMNS)
            row[column] += steps[i].to - steps[i].from;
    }
}

static uint64_t counted(const struct latency_call *call, uint32_t event)
{
    uint64_t before = call->entry->counters[event], after = call->hit->counters[event];

    return after > before ? after - before : 0;
}

/* Keeps some of many invocations, each with the same chance; the same ones in each reading. */
static void add_sample(struct latency_detail *d, const struct latency_call *call,
                       const struct latency_step *steps, uint32_t count)
{
    uint64_t place = d->calls++;
    uint64_t *row;

    if (place >= LATENCY_SAMPLE_MAX) {
        d->random = d->random * 6364136223846793005u + 1442695040888963407u;
        place = (uint64_t)((unsigned __int128)d->random * d->calls >> 64);
        if (place >= LATENCY_SAMPLE_MAX)
            return;
    } else {
        d->sample_count++;
    }
    row = d->sample[place];
    memset(row, 0, sizeof d->sample[0]);
    row[LATENCY_TICKS] = call->ticks;
    row[LATENCY_OWN] = call->own;
    memcpy(row + LATENCY_FIRST_SPENT, call->spent, sizeof call->spent);
    for (uint32_t i = 0; i < d->event_count; i++)
        row[LATENCY_FIRST_EVENT + i] = counted(call, i);
    add_callees(d, steps, count, row);
}

static void keep_long(struct latency_detail *d, const struct latency_call *call,
                      const struct latency_step *steps, uint32_t count, uint64_t cut)
{
    struct latency_long *worst;
    uint32_t at = d->worst_count;

    if (d->worst_wanted == 0 || (at == d->worst_wanted && d->worst[at - 1].ticks >= call->ticks))
        return;
    if (at == d->worst_wanted)
        free(d->worst[--at].steps);
    else
        d->worst_count++;
    for (; at > 0 && d->worst[at - 1].ticks < call->ticks; at--)
        d->worst[at] = d->worst[at - 1];
    worst = &d->worst[at];
    *worst = (struct latency_long){.time = call->entry->time,
                                   .ticks = call->ticks,
                                   .own = call->own,
                                   .tid = call->thread->tid,
                                   .result = call->hit->arguments[0],
                                   .cut = cut};
    memcpy(worst->spent, call->spent, sizeof worst->spent);
    memcpy(worst->arguments, call->entry->arguments, sizeof worst->arguments);
    for (uint32_t i = 0; i < d->event_count; i++)
        worst->counters[i] = counted(call, i);
    worst->steps = malloc((count + 1u) * sizeof worst->steps[0]);
    if (worst->steps == NULL) {
        d->error = -ENOMEM;
        return;
    }
    memcpy(worst->steps, steps, count * sizeof steps[0]);
    worst->step_count = count;
}

void latency_detail_returned(struct latency_detail *d, const struct latency_call *call)
{
    struct log *log = call->thread->notes;
    uint32_t mark = (uint32_t)call->entry->mark;

    if (log == NULL || log->open == 0)
        return;
    if (call->function == d->function) {
        mark = mark < log->count ? mark : log->count;
        add_sample(d, call, log->steps + mark, log->count - mark);
        keep_long(d, call, log->steps + mark, log->count - mark, log->cut);
        close_one(log);
    }
    if (log->open != 0) {
        const struct latency_step step = {.is_call = true,
                                          .function = call->function,
                                          .from = call->entry->time,
                                          .to = call->hit->time};

        add_step(log, &step);
    }
}

void latency_detail_lost(struct latency_detail *d, const struct latency_thread *thread,
                         uint32_t slot)
{
    struct log *log = thread->notes;

    if (log != NULL && log->open != 0 && thread->open.open[slot].function == d->function)
        close_one(log);
}
