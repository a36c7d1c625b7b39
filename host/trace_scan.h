/* One pass over a trace: the walk that stat, report, dump and check share.
 *
 * The walk verifies, decodes and keeps the books; a visitor gets what it asks for.  Constant
 * memory.  Never prints.
 */
#ifndef HOST_TRACE_SCAN_H
#define HOST_TRACE_SCAN_H

#include "host/selection.h"
#include "host/stacks.h"
#include "host/trace_audit.h"
#include "host/trace_file.h"
#include "host/trace_info.h"

struct trace_samples { /* a run of samples of one CPU, one thread, one set of flags */
    const struct hr_chunk_header *chunk;
    const struct trace_slot *previous; /* the sample before the first one */
    const struct trace_slot *slots;
    uint32_t count;
    uint32_t event_count;
    const uint32_t *stacks; /* a node of scan->stacks for each sample; NULL: the trace has none */
};

/* Every callback may be NULL; a value other than 0 ends the walk and is its result. */
struct trace_visitor {
    void *context;
    /* A DATA chunk begins; `continues` is false when chunks of this CPU before it are missing. */
    int (*chunk)(void *context, const struct trace_chunk *chunk, bool continues);
    int (*samples)(void *context, const struct trace_samples *samples);
    /* Every record of every chunk that is no run of samples, metadata included. */
    int (*record)(void *context, const struct trace_chunk *chunk,
                  const struct trace_record *record);
    /* Every chunk and damaged stretch, before its contents. */
    int (*step)(void *context, int step, const struct trace_chunk *chunk);
};

struct trace_scan {
    struct trace_file file;
    struct trace_info info;
    struct trace_audit audit;
    struct trace_slot *slots; /* TRACE_RUN_SAMPLES_MAX; owned */
    /* What the visitor is to see, everything unless set before trace_scan_run.  Chunks that hold
     * nothing of it are passed over, by the index where there is one; runs of samples at the edges
     * are cut.  Records other than samples come with their whole chunk.
     */
    struct selection selection;
    struct stacks stacks; /* what trace_samples.stacks are nodes of */
    bool partial; /* chunks were passed over: the audit does not cover the file */
};

/* 0 or -errno as trace_file_open. */
int trace_scan_open(struct trace_scan *scan, const char *path);
void trace_scan_close(struct trace_scan *scan);

/* Walks to the end of the file.  0, -errno, or what a callback returned. */
int trace_scan_run(struct trace_scan *scan, const struct trace_visitor *visitor);

#endif
