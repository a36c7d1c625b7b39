/* Sums of allocations. */
#include "host/heap/memory_totals.h"

void memory_totals_allocated(struct memory_totals *t, const struct memory_object *object)
{
    t->count++;
    t->bytes += object->bytes;
    t->live++;
    t->live_bytes += object->bytes;
    if (t->live_bytes <= t->peak_bytes)
        return;
    t->peak = t->live;
    t->peak_bytes = t->live_bytes;
    t->peak_time = object->time;
    t->peaks++;
}

static void end(struct memory_totals *t, const struct memory_object *object)
{
    t->live--;
    t->live_bytes -= object->bytes;
}

void memory_totals_freed(struct memory_totals *t, const struct memory_object *object)
{
    t->freed++;
    end(t, object);
}

void memory_totals_left(struct memory_totals *t, const struct memory_object *object)
{
    t->left++;
    t->left_bytes += object->bytes;
    end(t, object);
}

struct reading {
    struct memory_totals *totals;
    struct memory_heap heap;
};

static int allocated(void *context, uint32_t pid, const struct memory_object *object)
{
    const struct reading *reading = context;

    (void)pid;
    memory_totals_allocated(reading->totals, object);
    return 0;
}

static int freed(void *context, uint32_t pid, const struct memory_object *object, uint64_t time)
{
    const struct reading *reading = context;

    (void)time;
    if (!memory_heap_inherited(&reading->heap, pid, object))
        memory_totals_freed(reading->totals, object);
    return 0;
}

static void left(void *context, uint32_t pid, const struct memory_object *object)
{
    const struct reading *reading = context;

    if (!memory_heap_inherited(&reading->heap, pid, object))
        memory_totals_left(reading->totals, object);
}

int memory_totals_read(struct memory_totals *t, struct trace_scan *scan)
{
    struct reading reading = {.totals = t};
    int error;

    memory_heap_init(&reading.heap, scan);
    reading.heap.sink = (struct memory_heap_sink){
        .context = &reading, .allocated = allocated, .freed = freed, .left = left};
    error = memory_heap_run(&reading.heap, scan, false);
    memory_heap_free(&reading.heap);
    return error;
}
