/* What a trace of `hr run --alloc` says about allocations, as events in the order of time, and the
 * objects and sites that they make.
 *
 * Another walk over the trace uses it like this, to know whose an address is:
 *
 *   struct memory_heap heap;
 *   memory_heap_init(&heap, scan);
 *   visitor.allocations -> memory_heap_take_hits(&heap, hits);
 *   visitor.called      -> memory_heap_take_called(&heap, samples);
 *   visitor.record      -> memory_heap_take_record(&heap, chunk, record);
 *   and then            -> memory_objects_find(&heap.objects, pid, address, time);
 *   an object's site    -> heap.sites.all[object->site], host/memory/memory_sites.h
 *
 * Never prints.
 */
#pragma once

#include "host/memory/memory_objects.h"
#include "host/memory/memory_sites.h"
#include "host/scan/trace_scan.h"

struct memory_heap_sink { /* told what happens; every function may be NULL */
    void *context;
    int (*allocated)(void *context, uint32_t pid, const struct memory_object *object);
    int (*freed)(void *context, uint32_t pid, const struct memory_object *object, uint64_t time,
                 uint32_t tid);
    /* Live when its process ended or executed another program, or at the end of the trace. */
    void (*left)(void *context, uint32_t pid, const struct memory_object *object);
    int (*mapping)(void *context, uint32_t pid, const struct hr_rec_mapping *mapping);
};

struct memory_heap {
    const struct trace_scan *scan;
    struct memory_objects objects;
    struct memory_sites sites;
    struct memory_heap_sink sink;
    uint64_t unknown; /* frees and reallocations of what was never seen */
    uint64_t twice; /* frees of what was freed before */
    uint64_t lost; /* calls whose records were dropped, or are in chunks that did not come */
};

void memory_heap_init(struct memory_heap *heap, const struct trace_scan *scan);
void memory_heap_free(struct memory_heap *heap);

/* For a visitor of a walk over the trace.  0 or -ENOMEM, or what the sink returned. */
int memory_heap_take_hits(struct memory_heap *heap, const struct trace_hits *hits);
int memory_heap_take_called(struct memory_heap *heap, const struct trace_samples *samples);
int memory_heap_take_record(struct memory_heap *heap, const struct trace_chunk *chunk,
                            const struct trace_record *record);

/* The trace has ended: what is live is left. */
void memory_heap_finish(struct memory_heap *heap);
