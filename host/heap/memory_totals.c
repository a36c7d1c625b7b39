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

static int allocated(void *context, uint32_t /*pid*/, const struct memory_object *object)
{
    memory_totals_allocated(context, object);
    return 0;
}

static int freed(void *context, uint32_t /*pid*/, const struct memory_object *object,
                 uint64_t /*time*/)
{
    memory_totals_freed(context, object);
    return 0;
}

static void left(void *context, uint32_t /*pid*/, const struct memory_object *object)
{
    memory_totals_left(context, object);
}

int memory_totals_read(struct memory_totals *t, struct trace_scan *scan)
{
    struct memory_heap heap;
    int error;

    memory_heap_init(&heap, scan);
    heap.sink = (struct memory_heap_sink){
        .context = t, .allocated = allocated, .freed = freed, .left = left};
    error = memory_heap_run(&heap, scan, false);
    memory_heap_free(&heap);
    return error;
}
