/* A walk over precise accesses by several workers, who know what lies at an address.  For readers
 * of a trace that need one or two of them.  Never prints. */
#pragma once

#include "host/memory/accesses/memory_names.h"
#include "host/scan/trace_parallel.h"

/* Sees runs of samples with their accesses, in several workers at once.  Contexts are as in struct
 * trace_team. */
struct memory_team {
    void *owner;
    void *(*join)(void *owner);
    int (*samples)(void *context, struct memory_cursor *cursor,
                   const struct trace_samples *samples);
    int (*take)(void *owner, void *context);
    void (*leave)(void *owner, void *context);
    void (*restart)(void *owner);
};

struct memory_accesses {
    struct trace_scan *scan;
    const char *path;
    unsigned int jobs;
    struct trace_scan whole; /* another walk over the trace, for what it says about itself */
    bool walked; /* `whole` is open */
    bool named; /* `names` is open */
    int error; /* why there are no names, or not all; 0 */
    struct symbols *symbols;
    struct memory_heap heap; /* of a trace with allocations */
    struct memory_heap_sink sink; /* set before a walk: the heap's, which tells it as it goes */
    struct memory_names names;
    const struct memory_team *team;
};

void memory_accesses_init(struct memory_accesses *accesses, struct trace_scan *scan,
                          const char *path, unsigned int jobs);
/* For a walk of the caller's own from the start of the trace: reads what names need, and begins to
 * look them up.  Then, for each run of samples in the order of the walk, memory_names_at(), and
 * before each sample memory_accesses_advance().  0 or -errno. */
int memory_accesses_begin(struct memory_accesses *accesses, struct memory_cursor *cursor);
int memory_accesses_advance(struct memory_accesses *accesses, uint64_t time);

void memory_accesses_free(struct memory_accesses *accesses);

/* Walks over the trace, from its start.  0 or -errno. */
int memory_accesses_walk(struct memory_accesses *accesses, const struct memory_team *team);
