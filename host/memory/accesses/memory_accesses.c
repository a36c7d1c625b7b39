/* Walks over accesses with several workers. */
#include "host/memory/accesses/memory_accesses.h"

#include <stdlib.h>

void memory_accesses_init(struct memory_accesses *accesses, struct trace_scan *scan,
                          const char *path, unsigned int jobs)
{
    *accesses = (struct memory_accesses){.scan = scan, .path = path, .jobs = jobs};
}

void memory_accesses_free(struct memory_accesses *accesses)
{
    memory_names_close(&accesses->names);
    symbols_close(accesses->symbols);
    if (accesses->walked) {
        memory_heap_free(&accesses->heap);
        trace_scan_close(&accesses->whole);
    }
    accesses->named = accesses->walked = false;
    accesses->symbols = NULL;
}

static int take_allocations(void *context, const struct trace_hits *hits)
{
    return memory_heap_take_hits(context, hits);
}

static int take_called(void *context, const struct trace_samples *samples)
{
    return memory_heap_take_called(context, samples);
}

static int take_record(void *context, const struct trace_chunk *chunk,
                       const struct trace_record *record)
{
    return memory_heap_take_record(context, chunk, record);
}

/* One worker learns of maps and processes while it sees samples, but names need all of them; and an
 * access may come before an allocation that was earlier, on another CPU. */
static int read_whole(struct memory_accesses *accesses)
{
    const struct trace_visitor visitor = {.context = &accesses->heap,
                                          .stacks = TRACE_SCAN_STACKS,
                                          .allocations = take_allocations,
                                          .called = take_called,
                                          .record = take_record};
    int error = trace_scan_open(&accesses->whole, accesses->path);

    if (error != 0)
        return error;
    accesses->walked = true;
    accesses->whole.progress.line.enabled = false;
    accesses->whole.symbols = accesses->scan->symbols;
    accesses->whole.jobs = accesses->scan->jobs;
    memory_heap_init(&accesses->heap, &accesses->whole);
    accesses->heap.gathers = true;
    accesses->heap.sink = accesses->sink;
    return trace_scan_run(&accesses->whole, &visitor);
}

static int open_names(struct memory_accesses *accesses)
{
    const struct trace_info *info =
        accesses->walked ? &accesses->whole.info : &accesses->scan->info;
    int error = symbols_open(&accesses->symbols, info, accesses->scan->symbols);

    if (error == 0)
        error = memory_names_open(&accesses->names, info, accesses->symbols);
    accesses->named = error == 0;
    if (error == 0 && accesses->walked && memory_heap_any(info))
        memory_names_heap(&accesses->names, &accesses->heap, &accesses->whole.stacks);
    return error;
}

int memory_accesses_begin(struct memory_accesses *accesses, struct memory_cursor *cursor)
{
    int error;

    memory_accesses_free(accesses);
    error = read_whole(accesses);
    if (error == 0)
        error = open_names(accesses);
    if (error == 0)
        memory_names_begin(&accesses->names, cursor);
    return error;
}

int memory_accesses_advance(struct memory_accesses *accesses, uint64_t time)
{
    return accesses->names.heap != NULL ? memory_heap_advance(&accesses->heap, time) : 0;
}

struct worker {
    struct memory_accesses *accesses;
    struct memory_cursor cursor;
    void *context; /* the team's */
};

static void leave(void *owner, void *context)
{
    const struct memory_accesses *accesses = owner;
    struct worker *worker = context;

    if (worker->context != NULL)
        accesses->team->leave(accesses->team->owner, worker->context);
    free(worker);
}

static void *join(void *owner, struct trace_scan * /*scan*/)
{
    struct memory_accesses *accesses = owner;
    struct worker *worker = calloc(1, sizeof *worker);

    if (worker == NULL)
        return NULL;
    if (accesses->error == 0 && !accesses->named)
        accesses->error = open_names(accesses);
    if (accesses->error != 0) {
        free(worker);
        return NULL;
    }
    worker->accesses = accesses;
    memory_names_begin(&accesses->names, &worker->cursor);
    worker->context = accesses->team->join(accesses->team->owner);
    if (worker->context == NULL) {
        leave(owner, worker);
        return NULL;
    }
    return worker;
}

static int take(void *owner, void *context)
{
    const struct memory_accesses *accesses = owner;
    const struct worker *worker = context;

    return accesses->team->take(accesses->team->owner, worker->context);
}

static void restart(void *owner)
{
    struct memory_accesses *accesses = owner;

    memory_accesses_free(accesses);
    accesses->error = read_whole(accesses);
    accesses->team->restart(accesses->team->owner);
}

/* Allocations are told in the order of time: then one worker sees all. */
static bool divides(void * /*owner*/, const struct trace_info *info)
{
    return !memory_heap_any(info);
}

static int take_samples(void *context, const struct trace_samples *samples)
{
    struct worker *worker = context;
    struct memory_accesses *accesses = worker->accesses;
    int error = 0;

    if (samples->accesses == NULL)
        return 0;
    memory_names_at(&worker->cursor, samples->slots[0].tid, samples->slots[0].time);
    for (uint32_t n = 0; accesses->names.heap != NULL && n < samples->count && error == 0; n++) {
        struct trace_samples one = *samples;

        one.slots += n;
        one.accesses += n;
        one.own_ips += one.own_ips != NULL ? n : 0;
        one.count = 1;
        error = memory_heap_advance(&accesses->heap, one.slots[0].time);
        if (error == 0)
            error = accesses->team->samples(worker->context, &worker->cursor, &one);
    }
    if (accesses->names.heap != NULL)
        return error;
    return accesses->team->samples(worker->context, &worker->cursor, samples);
}

int memory_accesses_walk(struct memory_accesses *accesses, const struct memory_team *team)
{
    const struct trace_team walkers = {
        .owner = accesses,
        .visitor = {.accesses = true, .names = true, .samples = take_samples},
        .join = join,
        .take = take,
        .leave = leave,
        .restart = restart,
        .divides = divides,
    };
    int error = 0;

    accesses->team = team;
    if (accesses->named) { /* it is not the first walk */
        memory_accesses_free(accesses);
        error = trace_scan_rewind(accesses->scan);
    }
    accesses->error = 0;
    if (error == 0)
        error = trace_parallel_run(accesses->scan, &walkers, accesses->jobs);
    return accesses->error != 0 ? accesses->error : error;
}
