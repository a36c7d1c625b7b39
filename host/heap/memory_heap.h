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
 *   an object's site    -> memory_sites_at(&heap.sites, object->site)
 *
 * With visitor.stacks = TRACE_SCAN_STACKS sites have call stacks.  Where several CPUs ran the
 * program the chunks are not in the order of time: with `gathers` set, what is taken is kept (48
 * bytes each), sorted by the first memory_heap_advance, and told by it: then a second walk may ask.
 *
 * Never prints.
 */
#pragma once

#include "host/heap/memory_objects.h"
#include "host/heap/memory_sites.h"
#include "host/scan/trace_scan.h"

#define MEMORY_HEAP_CPUS 64u

/* Told what happens; every function may be NULL.  What a process has since a fork counts for the
 * process that allocated it: its end in the other one is not told. */
struct memory_heap_sink {
    void *context;
    int (*allocated)(void *context, uint32_t pid, const struct memory_object *object);
    int (*freed)(void *context, uint32_t pid, const struct memory_object *object, uint64_t time);
    /* Live when its process ended or executed another program, or at the end of the trace. */
    void (*left)(void *context, uint32_t pid, const struct memory_object *object);
    void (*ended)(void *context, uint32_t pid); /* a process, or what it executed */
    int (*mapping)(void *context, uint32_t pid, const struct hr_rec_mapping *mapping);
};

struct memory_heap_event {
    uint64_t time, address, bytes;
    uint64_t old; /* what was given back; of a mapping its number in `mappings` */
    uint32_t site, tid;
    uint32_t order; /* among those of one time */
    bool mapping;
};

struct memory_heap {
    const struct trace_scan *scan;
    struct memory_objects objects;
    struct memory_sites sites;
    struct memory_heap_sink sink;
    bool gathers;
    struct memory_heap_stray { /* frees by one site ... */
        uint64_t unknown; /* ... of what was never seen */
        uint64_t twice; /* ... of what was freed before */
    } * strays; /* by the site's number; owned */
    uint32_t stray_count;
    uint64_t lost; /* samples and hits that were dropped: calls may be among them */
    int result; /* of the sink */

    struct memory_heap_called { /* the stack of the call that comes next on a CPU */
        uint64_t time;
        uint32_t tid, stack;
    } called[MEMORY_HEAP_CPUS];
    struct hr_rec_process *processes; /* what happened to processes, in the order of time; owned */
    size_t process_count, process_next;
    struct memory_heap_event *events; /* owned, as the next one */
    size_t event_count, event_next;
    struct hr_rec_mapping *mappings;
    size_t mapping_count;
    bool sorted;
};

void memory_heap_init(struct memory_heap *heap, const struct trace_scan *scan);
void memory_heap_free(struct memory_heap *heap);

/* Whether the trace was made with --alloc. */
bool memory_heap_any(const struct trace_info *info);

/* For a visitor of a walk over the trace.  0 or -ENOMEM, or what the sink returned. */
int memory_heap_take_hits(struct memory_heap *heap, const struct trace_hits *hits);
int memory_heap_take_called(struct memory_heap *heap, const struct trace_samples *samples);
int memory_heap_take_record(struct memory_heap *heap, const struct trace_chunk *chunk,
                            const struct trace_record *record);

/* Tells what was gathered, up to a time.  Likewise. */
int memory_heap_advance(struct memory_heap *heap, uint64_t time);

/* The trace has ended: tells the rest; what is live is left.  Likewise. */
int memory_heap_finish(struct memory_heap *heap);

/* Walks over a trace that is open and tells all of it.  `stacks`: sites are told apart by their
 * call stacks.  Likewise. */
int memory_heap_run(struct memory_heap *heap, struct trace_scan *scan, bool stacks);
