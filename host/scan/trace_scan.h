/* One pass over a trace: the walk that stat, report, dump and check share.
 *
 * The walk verifies, decodes and keeps the books; a visitor gets what it asks for.  Constant
 * memory.  Never prints.
 */
#pragma once

#include "host/base/progress_bar.h"
#include "host/scan/stack_reader.h"
#include "host/scan/trace_audit.h"
#include "host/trace/selection.h"
#include "host/trace/trace_file.h"
#include "host/trace/trace_info.h"
#include "host/unwind/stacks.h"
#include "lib/trace/trace_accesses.h"
#include "lib/trace/trace_probes.h"

struct trace_samples { /* a run of samples of one CPU, one thread, one set of flags */
    const struct hr_chunk_header *chunk;
    const struct trace_slot *previous; /* the sample before the first one */
    const struct trace_slot *slots;
    uint32_t count;
    uint32_t event_count;
    /* A node of scan->stacks for each sample; NULL: the trace has none, or the visitor did not ask.
     */
    const uint32_t *stacks;
    /* The instructions that each sample stands for, where the emulator counted all of them; NULL:
     * a sample counts as 1. */
    const uint64_t *weights;
    /* What each sample accessed; NULL: the trace does not have it, or the visitor did not ask. */
    const struct hr_access *accesses;
    /* Their addresses as they are in their process; NULL: as in the slots. */
    const uint64_t *own_ips;
    bool kept; /* the slots stay as they are until scan->after_turn has returned */
};

struct trace_hits { /* a run of hits of probes of one CPU and thread */
    const struct hr_chunk_header *chunk;
    const struct trace_hit *hits;
    uint32_t count;
};

/* The address that the sample's process had it at. */
static inline uint64_t trace_samples_ip(const struct trace_samples *samples, uint32_t n)
{
    return samples->own_ips != NULL ? samples->own_ips[n] : samples->slots[n].ip;
}

/* What a sample counts. */
static inline uint64_t trace_samples_weight(const struct trace_samples *samples, uint32_t n)
{
    return samples->weights != NULL ? samples->weights[n] : 1;
}

/* The node of a sample's stack, `without` where the trace has no stacks. */
static inline uint32_t trace_samples_stack(const struct trace_samples *samples, uint32_t n,
                                           uint32_t without)
{
    return samples->stacks != NULL ? samples->stacks[n] : without;
}

/* The sample of that CPU before one of the run. */
static inline const struct trace_slot *trace_samples_before(const struct trace_samples *samples,
                                                            uint32_t n)
{
    return n == 0 ? samples->previous : &samples->slots[n - 1];
}

enum trace_scan_stacks { /* what a visitor wants to know of samples' call stacks */
                         TRACE_SCAN_NO_STACKS, /* nothing: costs nothing */
                         TRACE_SCAN_ROOTS, /* how they end, roots alone: HR_STACK_*; a copy of stack
                                              memory counts as whole without a look at it */
                         TRACE_SCAN_STACKS, /* all */
};

/* Every callback may be NULL; a value other than 0 ends the walk and is its result. */
struct trace_visitor {
    void *context;
    enum trace_scan_stacks stacks;
    bool accesses; /* wants samples' accesses, where the trace has them */
    /* Where the emulator counted every instruction, wants the counts as samples with weights, one
     * for each thread and address, of no time.  After all other samples. */
    bool exact;
    /* Wants to look up names: where code was at an address before other code, a sample's ip is what
     * to look up for the code of its process at its time (host/trace/trace_made.h). */
    bool names;
    /* Wants addresses as they are in each process, not common ones (host/trace/trace_spaces.h). */
    bool own_addresses;
    /* A DATA chunk begins; `continues` is false when chunks of this CPU before it are missing. */
    int (*chunk)(void *context, const struct trace_chunk *chunk, bool continues);
    int (*samples)(void *context, const struct trace_samples *samples);
    /* Likewise where threads begin to wait (HR_SAMPLE_WAITING), which are no samples. */
    int (*waits)(void *context, const struct trace_samples *samples);
    /* Likewise where an allocator was called (HR_SAMPLE_CALLED): before that call. */
    int (*called)(void *context, const struct trace_samples *samples);
    int (*hits)(void *context, const struct trace_hits *hits);
    /* Hits that are calls of an allocator: their values are HR_ALLOCATION_*. */
    int (*allocations)(void *context, const struct trace_hits *hits);
    /* Every record of every chunk that is no run of samples or hits, metadata included. */
    int (*record)(void *context, const struct trace_chunk *chunk,
                  const struct trace_record *record);
    /* Every chunk and damaged stretch, before its contents. */
    int (*step)(void *context, int step, const struct trace_chunk *chunk);
    const struct trace_digest *digest; /* NULL: there is none */
};

struct trace_ahead;
struct trace_index;
struct trace_scan;

/* How threads add up a chunk of samples before its turn comes, each in a digest of its own.  A
 * chunk for which that does not do is visited. */
struct trace_digest {
    /* That adds up.  Its context is a digest, which `chunk` empties; stacks are nodes of the
     * chunk's own tree. */
    struct trace_visitor visitor;
    /* A digest of what `scan` hands out, for the visitor's context; NULL: no memory. */
    void *(*join)(void *context, struct trace_scan *scan);
    /* Takes a chunk's digest when its turn comes, in place of the visitor's other callbacks.  0,
     * -EAGAIN if the chunk is to be visited instead, or what ends the walk. */
    int (*take)(void *context, void *digest);
    void (*leave)(void *digest);
};

struct trace_scan {
    struct trace_file file;
    struct trace_info info;
    struct trace_audit audit;
    struct trace_slot *slots; /* TRACE_RUN_SAMPLES_MAX; owned */
    uint64_t *weights; /* of exact counts, likewise; owned, NULL until there are any */
    uint64_t *own_ips; /* of samples, likewise */
    struct trace_hit *hits; /* likewise */
    struct hr_access *accesses; /* likewise */
    /* What the visitor is to see, everything unless set before trace_scan_run.  Chunks that hold
     * nothing of it are passed over, by the index where there is one; runs of samples at the edges
     * are cut.  Records other than samples come with their whole chunk. */
    struct selection selection;
    struct stacks stacks; /* what trace_samples.stacks are nodes of */
    struct stack_reader stack_reader;
    /* Threads that read, check and decode during trace_scan_run, as in trace_parallel_jobs(); a
     * visitor is called by one at a time, in the order of the file. */
    unsigned int jobs;
    const struct trace_ahead *ahead; /* what was decoded of the chunk before its turn came */
    /* Called by such a thread, which has that number (trace_ahead.thread), after each of its turns,
     * while others have theirs; may be NULL. */
    struct trace_after_turn {
        void (*work)(void *context, unsigned int thread);
        void *context;
    } after_turn;
    const struct symbols_options *symbols; /* for unwinding copies of stacks; NULL: the defaults */
    bool partial; /* chunks were passed over: the audit does not cover the file */
    /* Shown on a terminal while the walk takes long; a command that writes to the terminal during
     * the walk clears `enabled` of its line. */
    struct progress_bar progress;
};

/* 0 or -errno as trace_file_open. */
int trace_scan_open(struct trace_scan *scan, const char *path);
void trace_scan_close(struct trace_scan *scan);

/* For a second walk over the file of another scan, with its selection, symbols and jobs.  0 or
 * -errno. */
int trace_scan_again(struct trace_scan *again, const struct trace_scan *scan);

/* Walks to the end of the file.  0, -errno, or what a callback returned.  While scan->file grows
 * (trace_file_grow), it may be called again to walk on. */
int trace_scan_run(struct trace_scan *scan, const struct trace_visitor *visitor);

/* For host/scan/trace_ahead.c.  The next chunk or damaged stretch, without those that `index` shows
 * to be outside of the selection; *next is an entry of it that was not come to.  As
 * trace_file_next. */
int trace_scan_next(struct trace_scan *scan, const struct trace_index *index, size_t *next,
                    struct trace_chunk *chunk);

/* Takes what was read.  0, -errno, or what a callback returned. */
int trace_scan_step(struct trace_scan *scan, const struct trace_visitor *visitor, int step,
                    const struct trace_chunk *chunk);

/* For host/scan/trace_parallel.c, which walks in another order. */

/* Another scan of the same file and selection, at its start.  Its info is `of`'s own: not to be
 * changed, nor used after `of`.  0 or -errno; trace_scan_unshare takes the place of
 * trace_scan_close. */
int trace_scan_share(struct trace_scan *scan, const struct trace_scan *of);
void trace_scan_unshare(struct trace_scan *scan);

/* Back to the start of the file, as if nothing had been read.  0 or -ENOMEM. */
int trace_scan_rewind(struct trace_scan *scan);

/* Reads what comes before all data, such as which events there are, into scan->info.  1: data
 * follows; 0; or -errno. */
int trace_scan_info(struct trace_scan *scan);

struct trace_head { /* what comes before all data says */
    bool data; /* that there is data, as a file that grows may not yet have */
    bool stacks; /* the samples have call stacks */
    bool accesses; /* and accesses */
    bool called; /* functions get their numbers as the program runs: trace_points_called() */
};

/* Reads that and rewinds, so that scan->info is empty again.  Returns 0 or -errno. */
int trace_scan_head(struct trace_scan *scan, struct trace_head *head);

/* Takes one chunk for the visitor, without its `step`.  0, -errno, or what a callback returned;
 * what does not decode is noted in scan->audit. */
int trace_scan_chunk(struct trace_scan *scan, const struct trace_visitor *visitor,
                     const struct trace_chunk *chunk, bool continues);

/* Whether a chunk holds nothing that is selected. */
bool trace_scan_outside(const struct trace_scan *scan, const struct hr_chunk_header *header);
