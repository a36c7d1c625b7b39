/* Finds the end of each wait. */
#include "host/scan/off_cpu.h"

#include <errno.h>
#include <stdlib.h>

#include "host/base/array.h"

#define EVENTS_MAX (8u << 20)

void off_cpu_free(struct off_cpu *off)
{
    free(off->events);
    *off = (struct off_cpu){0};
}

static int add(struct off_cpu *off, const struct off_cpu_event *event)
{
    if (array_grow(&off->events, off->count, sizeof *event) != 0)
        return -ENOMEM;
    off->events[off->count++] = *event;
    return 0;
}

int off_cpu_take_waits(struct off_cpu *off, const struct trace_samples *samples)
{
    int error = 0;

    for (uint32_t n = 0; n < samples->count && error == 0; n++) {
        const struct trace_slot *slot = &samples->slots[n];
        const struct off_cpu_event wait = {
            .time = slot->time,
            .tid = slot->tid,
            .cpu = samples->chunk->cpu,
            .stack = trace_samples_stack(samples, n, HR_STACK_NONE),
            .ip = slot->ip,
            .wait = true,
        };

        error = add(off, &wait);
    }
    return error;
}

int off_cpu_take_record(struct off_cpu *off, const struct trace_record *record)
{
    struct hr_rec_switch change;

    if (record->type != HR_REC_SWITCH || !trace_body(record, &change, sizeof change, NULL, NULL) ||
        change.to_tid == 0)
        return 0;
    return add(off, &(struct off_cpu_event){.time = change.time, .tid = change.to_tid});
}

bool off_cpu_full(const struct off_cpu *off)
{
    return off->count >= EVENTS_MAX;
}

/* A thread may run again at the time at which it began to wait. */
static int by_thread(const void *a, const void *b)
{
    const struct off_cpu_event *x = a, *y = b;

    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (int)y->wait - (int)x->wait;
}

int off_cpu_settle(struct off_cpu *off,
                   int (*take)(void *context, const struct off_cpu_event *wait, uint64_t ticks),
                   void *context)
{
    size_t kept = 0;
    int result = 0;

    if (off->count != 0)
        qsort(off->events, off->count, sizeof off->events[0], by_thread);
    for (size_t i = 0; i < off->count && result == 0; i++) {
        const struct off_cpu_event wait = off->events[i], *next = &off->events[i + 1];
        bool last = i + 1 == off->count || next->tid != wait.tid;

        if (!wait.wait)
            continue;
        if (last)
            off->events[kept++] = wait;
        else if (!next->wait)
            result = take(context, &wait, next->time - wait.time);
    }
    off->count = kept;
    return result;
}
