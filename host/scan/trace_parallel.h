/* One pass over a trace by several threads, for commands whose work can be added up.
 *
 * Every worker takes a stretch of the file with a context of its own; at the end the contexts are
 * taken in the order of the file.  The result is that of the walk by one: whatever cannot be
 * divided so (damage, missing chunks, metadata that changes on the way) is walked by one, from the
 * start.  Never prints.
 */
#pragma once

#include "host/scan/trace_scan.h"

#define TRACE_PARALLEL_JOBS_MAX 8u

struct trace_team {
    void *owner;
    struct trace_visitor visitor; /* its context: that of the worker */
    /* A context for the samples that `scan` hands out, or NULL without memory.  Unless the walk is
     * one worker's from the start, the info is complete and visitors get DATA chunks alone. */
    void *(*join)(void *owner, struct trace_scan *scan);
    /* Called in the order of the file when all are done: adds up what the worker found.  0 or
     * -errno. */
    int (*take)(void *owner, void *context);
    void (*leave)(void *owner, void *context);
    /* Forgets what visitors gave the owner so far: one worker will read all again.  May be NULL. */
    void (*restart)(void *owner);
    /* Whether this trace's work can be divided; NULL: always. */
    bool (*divides)(void *owner, const struct trace_info *info);
};

/* What `jobs` comes to: 0 is as many as there are CPUs for us, but one for a short file. */
unsigned int trace_parallel_jobs(unsigned int jobs, uint64_t file_bytes);

/* Walks to the end of the file, with `jobs` workers at most (trace_parallel_jobs).  0, -errno, or
 * what a callback returned; a callback's -EAGAIN asks for one worker, and is final there. */
int trace_parallel_run(struct trace_scan *scan, const struct trace_team *team, unsigned int jobs);
