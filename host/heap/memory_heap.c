/* From calls of allocators to objects. */
#include "host/heap/memory_heap.h"

#include <errno.h>
#include <stdlib.h>

#include "host/base/array.h"

void memory_heap_init(struct memory_heap *heap, const struct trace_scan *scan)
{
    *heap = (struct memory_heap){.scan = scan};
}

void memory_heap_free(struct memory_heap *heap)
{
    memory_objects_free(&heap->objects);
    memory_sites_free(&heap->sites);
    free(heap->strays);
    free(heap->processes);
    free(heap->events);
    free(heap->mappings);
    *heap = (struct memory_heap){0};
}

bool memory_heap_any(const struct trace_info *info)
{
    return trace_info_text(info, "alloc", NULL) != NULL;
}

static void note_result(struct memory_heap *heap, int result)
{
    if (heap->result == 0)
        heap->result = result;
}

static uint32_t pid_of(const struct memory_heap *heap, uint32_t tid, uint64_t time)
{
    const struct trace_processes *processes = &heap->scan->info.processes;

    return trace_processes_any(processes) ? trace_processes_pid(processes, tid, time)
                                          : HR_FIRST_PID;
}

/* Whether a process has an object since a fork. */
static bool is_inherited(const struct memory_heap *heap, uint32_t pid,
                         const struct memory_object *object)
{
    return trace_processes_any(&heap->scan->info.processes) &&
           pid_of(heap, object->tid, object->time) != pid;
}

static void tell_freed(struct memory_heap *heap, uint32_t pid, const struct memory_object *object,
                       uint64_t time)
{
    if (heap->sink.freed != NULL && !is_inherited(heap, pid, object))
        note_result(heap, heap->sink.freed(heap->sink.context, pid, object, time));
}

static void leave(void *context, uint32_t pid, const struct memory_object *object)
{
    struct memory_heap *heap = context;

    if (heap->sink.left != NULL && !is_inherited(heap, pid, object))
        heap->sink.left(heap->sink.context, pid, object);
}

/* Takes what happened to processes up to a time. */
static void follow_processes(struct memory_heap *heap, uint64_t time)
{
    while (heap->process_next < heap->process_count &&
           heap->processes[heap->process_next].time <= time) {
        const struct hr_rec_process *p = &heap->processes[heap->process_next++];

        if (p->kind == HR_PROCESS_START)
            note_result(heap, memory_objects_fork(&heap->objects, p->parent_pid, p->pid));
        else
            memory_objects_end(&heap->objects, p->pid, leave, heap);
        if (p->kind != HR_PROCESS_START && heap->sink.ended != NULL)
            heap->sink.ended(heap->sink.context, p->pid);
    }
}

struct replacing {
    struct memory_heap *heap;
    const struct memory_heap_event *event;
    uint32_t pid;
};

static void gone(void *context, const struct memory_object *object)
{
    const struct replacing *r = context;

    tell_freed(r->heap, r->pid, object, r->event->time);
}

static void note_stray(struct memory_heap *heap, uint32_t site, enum memory_objects_end end)
{
    while (heap->stray_count <= site) {
        if (array_grow(&heap->strays, heap->stray_count, sizeof heap->strays[0]) != 0) {
            note_result(heap, -ENOMEM);
            return;
        }
        heap->strays[heap->stray_count++] = (struct memory_heap_stray){0};
    }
    heap->strays[site].unknown += end == MEMORY_OBJECTS_UNKNOWN;
    heap->strays[site].twice += end == MEMORY_OBJECTS_TWICE;
}

static void give_back(struct memory_heap *heap, uint32_t pid, const struct memory_heap_event *event)
{
    struct memory_object object;
    enum memory_objects_end end = memory_objects_remove(&heap->objects, pid, event->old, &object);

    if (end != MEMORY_OBJECTS_FREED)
        note_stray(heap, event->site, end);
    else
        tell_freed(heap, pid, &object, event->time);
}

static void apply(struct memory_heap *heap, const struct memory_heap_event *event)
{
    uint32_t pid = pid_of(heap, event->tid, event->time);
    struct replacing replacing = {heap, event, pid};
    uint64_t room = UINT64_MAX - event->address; /* a hostile trace may say more */
    const struct memory_object object = {.address = event->address,
                                         .bytes = event->bytes < room ? event->bytes : room,
                                         .time = event->time,
                                         .site = event->site,
                                         .tid = event->tid};

    follow_processes(heap, event->time);
    if (event->mapping) {
        if (heap->sink.mapping != NULL)
            note_result(heap,
                        heap->sink.mapping(heap->sink.context, pid, &heap->mappings[event->old]));
        return;
    }
    if (event->old != 0)
        give_back(heap, pid, event);
    if (event->address == 0)
        return;
    note_result(heap, memory_objects_add(&heap->objects, pid, &object, gone, &replacing));
    if (heap->sink.allocated != NULL)
        note_result(heap, heap->sink.allocated(heap->sink.context, pid, &object));
}

static int take(struct memory_heap *heap, const struct memory_heap_event *event)
{
    if (!heap->gathers) {
        apply(heap, event);
        return heap->result;
    }
    if (array_grow(&heap->events, heap->event_count, sizeof *event) != 0)
        return -ENOMEM;
    heap->events[heap->event_count] = *event;
    heap->events[heap->event_count].order = (uint32_t)heap->event_count;
    heap->event_count++;
    return 0;
}

/* The stack that was recorded just before a call. */
static uint32_t stack_of(const struct memory_heap *heap, uint32_t cpu, uint32_t tid, uint64_t time)
{
    const struct memory_heap_called *called = &heap->called[cpu % MEMORY_HEAP_CPUS];

    return called->time == time && called->tid == tid ? called->stack : HR_STACK_NONE;
}

static uint32_t site_of(struct memory_heap *heap, uint32_t tid, uint64_t time, uint64_t caller,
                        uint32_t function, uint32_t stack)
{
    const struct trace_processes *processes = &heap->scan->info.processes;

    if (trace_processes_any(processes))
        caller = trace_processes_address(processes, tid, time, caller);
    return memory_sites_number(
        &heap->sites,
        &(struct memory_site){.caller = caller, .function = function, .stack = stack});
}

int memory_heap_take_hits(struct memory_heap *heap, const struct trace_hits *hits)
{
    const struct trace_points *points = &heap->scan->info.points;
    int error = 0;

    for (uint32_t i = 0; i < hits->count && error == 0; i++) {
        const struct trace_hit *hit = &hits->hits[i];
        struct memory_heap_event event = {.time = hit->time,
                                          .address = hit->arguments[HR_ALLOCATION_ADDRESS],
                                          .bytes = hit->arguments[HR_ALLOCATION_BYTES],
                                          .old = hit->arguments[HR_ALLOCATION_OLD],
                                          .tid = hit->tid};

        event.site = site_of(heap, hit->tid, hit->time, hit->arguments[HR_ALLOCATION_CALLER],
                             trace_points_function(points, hit->point),
                             stack_of(heap, hit->cpu, hit->tid, hit->time));
        error = take(heap, &event);
    }
    return error;
}

int memory_heap_take_called(struct memory_heap *heap, const struct trace_samples *samples)
{
    for (uint32_t i = 0; i < samples->count; i++)
        heap->called[samples->chunk->cpu % MEMORY_HEAP_CPUS] =
            (struct memory_heap_called){.time = samples->slots[i].time,
                                        .tid = samples->slots[i].tid,
                                        .stack = trace_samples_stack(samples, i, HR_STACK_NONE)};
    return 0;
}

static int take_mapping(struct memory_heap *heap, const struct trace_record *record)
{
    const struct selection *selection = &heap->scan->selection;
    struct memory_heap_event event = {.mapping = true, .old = heap->mapping_count};
    struct hr_rec_mapping mapping;
    uint64_t ns;

    if (!trace_body(record, &mapping, sizeof mapping, NULL, NULL))
        return 0;
    ns = trace_info_time_ns(&heap->scan->info, mapping.time);
    if (ns < selection->from_ns || ns > selection->to_ns ||
        !trace_info_selects(&heap->scan->info, selection, mapping.tid, mapping.time))
        return 0;
    if (!heap->gathers)
        heap->mapping_count = event.old = 0; /* one at a time */
    if (array_grow(&heap->mappings, heap->mapping_count, sizeof mapping) != 0)
        return -ENOMEM;
    heap->mappings[heap->mapping_count++] = mapping;
    event.time = mapping.time;
    event.tid = mapping.tid;
    return take(heap, &event);
}

int memory_heap_take_record(struct memory_heap *heap, const struct trace_chunk *chunk,
                            const struct trace_record *record)
{
    struct hr_rec_process process;
    struct hr_rec_lost lost;

    if (record->type == HR_REC_MAPPING && chunk->header.type == HR_CHUNK_DATA)
        return take_mapping(heap, record);
    if (record->type == HR_REC_LOST && chunk->header.type == HR_CHUNK_DATA &&
        trace_body(record, &lost, sizeof lost, NULL, NULL))
        heap->lost += lost.count;
    if (record->type != HR_REC_PROCESS ||
        !trace_body(record, &process, sizeof process, NULL, NULL) ||
        process.kind < HR_PROCESS_START || process.kind > HR_PROCESS_EXIT)
        return 0;
    if (array_grow(&heap->processes, heap->process_count, sizeof process) != 0)
        return -ENOMEM;
    heap->processes[heap->process_count++] = process;
    return 0;
}

static int by_time(const void *a, const void *b)
{
    const struct memory_heap_event *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

int memory_heap_advance(struct memory_heap *heap, uint64_t time)
{
    if (!heap->sorted && heap->event_count != 0)
        qsort(heap->events, heap->event_count, sizeof heap->events[0], by_time);
    heap->sorted = true;
    while (heap->event_next < heap->event_count && heap->events[heap->event_next].time <= time &&
           heap->result == 0)
        apply(heap, &heap->events[heap->event_next++]);
    return heap->result;
}

int memory_heap_finish(struct memory_heap *heap)
{
    int result = memory_heap_advance(heap, UINT64_MAX);

    follow_processes(heap, UINT64_MAX);
    while (heap->objects.process_count != 0)
        memory_objects_end(&heap->objects, memory_objects_last(&heap->objects), leave, heap);
    return result;
}

static int walk_hits(void *context, const struct trace_hits *hits)
{
    return memory_heap_take_hits(context, hits);
}

static int walk_called(void *context, const struct trace_samples *samples)
{
    return memory_heap_take_called(context, samples);
}

static int walk_record(void *context, const struct trace_chunk *chunk,
                       const struct trace_record *record)
{
    return memory_heap_take_record(context, chunk, record);
}

/* What the trace says about itself comes before all data. */
static int walk_chunk(void *context, const struct trace_chunk *chunk, bool continues)
{
    struct memory_heap *heap = context;

    (void)chunk;
    (void)continues;
    if (heap->event_count == 0)
        heap->gathers = heap->scan->info.sampling.cpu_count > 1;
    return 0;
}

int memory_heap_run(struct memory_heap *heap, struct trace_scan *scan, bool stacks)
{
    const struct trace_visitor visitor = {.context = heap,
                                          .stacks =
                                              stacks ? TRACE_SCAN_STACKS : TRACE_SCAN_NO_STACKS,
                                          .chunk = walk_chunk,
                                          .called = walk_called,
                                          .allocations = walk_hits,
                                          .record = walk_record};
    int result = trace_scan_run(scan, &visitor);

    return result != 0 ? result : memory_heap_finish(heap);
}
