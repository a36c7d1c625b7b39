/* The walk over a long trace by several threads: chunks are read, checked and decoded ahead.
 *
 * Each thread takes the next chunk, decodes its samples, waits until all chunks before it have been
 * visited, and then visits its own.  So a visitor sees what it sees in a walk by one thread, in the
 * same order and never by two threads at once, though not always by the same thread.  Whatever
 * depends on what came before and is found to have changed (metadata, a chunk that is damaged) is
 * read once more when it is its turn, as a walk by one thread reads it.  After its turn a thread
 * calls scan->after_turn, before it decodes the next chunk.
 *
 * For a visitor with a digest, a thread does not only decode a chunk of samples but adds it up,
 * with a scan of its own; when it is its turn the visitor takes the sums.  Chunks that are to be
 * visited one sample after the other (they are damaged, or the visitor's tables might not have
 * room) are read again then.  Never prints.
 */
#pragma once

#include "host/scan/trace_scan.h"

#define TRACE_AHEAD_RUNS 512u
#define TRACE_AHEAD_SLOTS (32u << 10) /* of a chunk with more, the rest is decoded when visited */

struct trace_ahead_run { /* a record of samples */
    struct trace_slot *slots;
    uint32_t count;
    struct trace_decoder after; /* its state */
};

struct trace_ahead { /* the first runs of a chunk, decoded */
    struct trace_ahead_run *runs; /* TRACE_AHEAD_RUNS; owned */
    struct trace_slot *slots; /* TRACE_AHEAD_SLOTS; owned */
    uint32_t count; /* of runs */
    unsigned int thread; /* that decodes, below TRACE_PARALLEL_JOBS_MAX */
    void *digest; /* of the chunk, in place of runs; NULL: there is none */
};

/* How many threads are worth it from here on: 1 unless the trace has said what samples are like,
 * and there is much to read. */
unsigned int trace_ahead_jobs(const struct trace_scan *scan, uint64_t walked_bytes);

/* Walks from the file's position to its end; `index` as in trace_scan_next.  0, -errno, or what a
 * callback returned. */
int trace_ahead_run(struct trace_scan *scan, const struct trace_visitor *visitor,
                    const struct trace_index *index, unsigned int jobs);
