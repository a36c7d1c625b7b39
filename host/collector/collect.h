/* The collector: takes the guest's trace as a stream of bytes, verifies it chunk by chunk and
 * appends whole, verified chunks to hr.bin, so that the file is always readable.
 *
 * The guest is not trusted: bytes that are not a trace set `bad`, and everything from there on is
 * discarded, as it is after a failed write.  Used by one thread.  Never prints.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "host/base/output_file.h"
#include "host/base/run_failure.h"
#include "host/trace/trace_index.h"
#include "include/hr_format.h"

struct collector {
    int fd;
    struct output_file file; /* after collect_open, the file of fd */
    bool named; /* the file has its name, because it holds something */
    bool needs_pmu; /* set after collect_open: keep no trace without a hardware counter */
    uint8_t *memory; /* allocation that holds the buffer */
    uint8_t *buffer; /* received bytes that are not yet completely in the file */
    size_t used; /* bytes in the buffer */
    size_t verified; /* of these, bytes of whole, valid pieces: file header, chunks */
    size_t written; /* of these, bytes in the file: the start of an incomplete piece */
    uint64_t offset; /* position of the buffer in the file, after header and whole chunks */
    uint64_t start_ns; /* CLOCK_MONOTONIC at collect_open */
    struct trace_index index;
    size_t index_max; /* entries, as a bound on memory */
    atomic_size_t *index_shared; /* entries left for all collectors together; NULL: no such bound */
    size_t index_share; /* how many of these this collector has taken */
    bool index_full; /* too many chunks: the trace gets no index, readers scan */
    bool has_header; /* the file header was received */
    bool has_meta;
    bool has_data;
    bool has_end; /* the guest's END chunk was received: the trace is complete */
    bool has_exit;
    struct hr_rec_exit exit;
    uint64_t samples;
    uint64_t lost;
    uint64_t received_bytes;
    int write_error; /* errno of the first failed write, 0 if none */
    const char *bad; /* what is wrong with the stream, or NULL */
    uint32_t events; /* number of the trace's events */
    char unmeasured[64]; /* the first event without a hardware counter, empty if none */
    uint8_t unmeasured_source; /* enum hr_source of that event */
};

/* Creates the file.  It must not be `input` (may be NULL), and replaces only a trace unless
 * `force`.  It gets its name with the first chunk that says more than that a run was to begin; a
 * trace that has the name before then becomes NAME.old.  Returns 0, or -1 with the failure filled.
 */
int collect_open(struct collector *c, const char *path, bool force, const struct stat *input,
                 struct run_failure *failure);

/* Reads once from `from` and appends all complete chunks.  Returns the bytes read, 0 at the end of
 * the stream, or -errno of read().  Check bad and write_error afterwards. */
ssize_t collect_receive(struct collector *c, int from);

/* Opens or creates a file that an earlier collector may have left in any state, and continues where
 * its last whole chunk ends (`offset`).  Removes what that collector added to complete the file.
 * Reads the header of every chunk and the contents of META and END.  Returns 0, or -errno:
 * -EWOULDBLOCK if another collector has the file. */
int collect_resume(struct collector *c, const char *path, size_t index_max,
                   atomic_size_t *index_shared);

/* Takes bytes that were received otherwise.  Chunks are written when enough have gathered. */
#define COLLECT_TAKE_BYTES (256u << 10) /* limit for one call */
void collect_take(struct collector *c, const void *bytes, size_t count);

/* Writes all whole chunks to the file.  Afterwards everything before `offset` is there, unless
 * write_error is set. */
void collect_flush(struct collector *c);

/* Returns where the last whole received chunk ends; c->used - c->verified bytes follow it. */
static inline uint64_t collect_whole_bytes(const struct collector *c)
{
    return c->offset + c->verified;
}

/* Flushes, closes and frees, without adding anything.  Returns 0, or -errno as collect_close. */
int collect_suspend(struct collector *c);

/* Adds a HOST chunk after everything that was received, at the end of the reception.  Returns 0, or
 * -errno of a failed write. */
int collect_add(struct collector *c, const uint8_t *chunk, uint32_t bytes);

/* Adds the HOST chunk and the index, as far as they fit, and frees everything.  Removes a file that
 * holds nothing: `named` tells.  The fields stay readable.  Returns 0, or -errno of the first
 * failed write of the whole collection. */
int collect_close(struct collector *c, enum hr_host_reason reason, const char *message);

/* For the collector's own files: */
int collect_init(struct collector *c, size_t index_max);
/* Records a verified chunk.  Returns what is wrong with it, or NULL. */
const char *collect_note_chunk(struct collector *c, const struct hr_chunk_header *header,
                               const uint8_t *payload, uint64_t offset);
void collect_index_chunk(struct collector *c, const struct hr_chunk_header *header,
                         uint64_t offset);
void collect_free_index(struct collector *c);

/* Returns the reason for an end of the stream that has no other cause. */
enum hr_host_reason collect_reason(const struct collector *c);
