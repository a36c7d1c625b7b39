/* One pass over a trace by several threads, for commands whose work can be added up.
 *
 * Every worker takes a stretch of the file with a context of its own; at the end the contexts are
 * merged in the order of the file.  The result is that of the walk by one: whatever cannot be
 * divided so (damage, missing chunks, metadata that changes on the way) is walked by one, from the
 * start.  Never prints.
 */
#ifndef HOST_TRACE_PARALLEL_H
#define HOST_TRACE_PARALLEL_H

#include "host/trace_scan.h"

#define TRACE_PARALLEL_JOBS_MAX 8u

struct trace_team {
    void *owner;
    struct trace_visitor visitor; /* its context: that of the worker */
    /* A context for the samples that `scan` hands out, or NULL without memory.  With several
     * workers the info is complete and visitors get DATA chunks alone; scans do not outlive the
     * run.  For one worker as trace_scan_run. */
    void *(*join)(void *owner, const struct trace_scan *scan);
    /* Adds `next` to `context`, which is of what comes before it in the file.  nodes translates the
     * stacks of `next` to those of the main scan.  0 or -errno. */
    int (*merge)(void *owner, void *context, void *next, const uint32_t *nodes);
    void (*leave)(void *owner, void *context);
    /* Whether this trace's work can be divided; NULL: always. */
    bool (*divides)(void *owner, const struct trace_info *info);
};

/* What `jobs` comes to: 0 is as many as there are CPUs for us, but one for a short file. */
unsigned int trace_parallel_jobs(unsigned int jobs, uint64_t file_bytes);

/* Walks to the end of the file, with `jobs` workers at most (trace_parallel_jobs).  0, -errno, or
 * what a callback returned; a callback's -EAGAIN asks for one worker, and is final there.  *context
 * is what all was merged into, to be left by the caller; NULL after a failure.
 */
int trace_parallel_run(struct trace_scan *scan, const struct trace_team *team, unsigned int jobs,
                       void **context);

#endif
