/* The collector: takes the guest's trace as a stream of bytes, verifies it chunk by chunk and
 * appends whole, verified chunks to hr.bin, so that the file is readable whatever happens next.
 *
 * The guest is not trusted: what is not a trace sets `bad` and everything from there on is
 * discarded, as it is after a failed write.  Used by one thread.  Never prints.
 */
#ifndef HOST_COLLECTOR_COLLECT_H
#define HOST_COLLECTOR_COLLECT_H

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
    struct output_file file; /* that fd is of, after collect_open */
    bool named; /* the file has its name: it holds something */
    bool needs_pmu; /* set after collect_open: it gets none without a hardware counter */
    uint8_t *memory; /* that the buffer lies in */
    uint8_t *buffer; /* received and not yet whole in the file */
    size_t used; /* bytes in the buffer */
    size_t verified; /* of them, whole and good: file header, chunks */
    size_t written; /* of those, in the file: the start of a piece that is not whole there */
    uint64_t offset; /* place of the buffer's first byte in the file: header and whole chunks */
    uint64_t start_ns; /* CLOCK_MONOTONIC at collect_open */
    struct trace_index index;
    size_t index_max; /* entries, as a bound on memory */
    atomic_size_t *index_shared; /* entries left for all collectors together; NULL: no such bound */
    size_t index_share; /* of them, taken */
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
    const char *bad; /* what is wrong with the stream, NULL if nothing */
    uint32_t events; /* that the trace has counters for */
    char unmeasured[64]; /* the first event without a hardware counter, empty if none */
    uint8_t unmeasured_source; /* its enum hr_source */
};

/* Creates the file, which must not be `input` (may be NULL) nor, unless `force`, replace what is no
 * trace.  It takes its name with the first chunk that says more than that a run was to begin; a
 * trace that has the name before becomes NAME.old then.  0, or -1 with the failure filled.
 */
int collect_open(struct collector *c, const char *path, bool force, const struct stat *input,
                 struct run_failure *failure);

/* Reads once from `from` and appends what became complete.  Returns the bytes read, 0 at the end
 * of the stream, or -errno of read().  Look at bad and write_error afterwards.
 */
ssize_t collect_receive(struct collector *c, int from);

/* Opens or creates a file that a collector before may have left, at any moment of its life; goes on
 * where its last whole chunk ends (`offset`).  What that collector added to complete it is taken
 * off again.  Reads the header of every chunk and what META and END say.  0, or -errno:
 * -EWOULDBLOCK when another collector has it.
 */
int collect_resume(struct collector *c, const char *path, size_t index_max,
                   atomic_size_t *index_shared);

/* Takes bytes that were received otherwise.  Chunks are written when there are enough of them. */
#define COLLECT_TAKE_BYTES (256u << 10) /* at most so many at once */
void collect_take(struct collector *c, const void *bytes, size_t count);

/* Brings all whole chunks into the file: all before `offset` are there unless write_error is set.
 */
void collect_flush(struct collector *c);

/* Where the last whole chunk ends that was received; beyond it lie c->used - c->verified bytes. */
static inline uint64_t collect_whole_bytes(const struct collector *c)
{
    return c->offset + c->verified;
}

/* Flushes, closes and frees, adding nothing.  0, or -errno as collect_close. */
int collect_suspend(struct collector *c);

/* Adds a HOST chunk behind all that was received, once nothing more is.  0, or -errno of a write
 * that failed.
 */
int collect_add(struct collector *c, const uint8_t *chunk, uint32_t bytes);

/* Adds the HOST chunk and the index, as far as they fit, and frees everything.  A file that holds
 * nothing is removed: `named` says so.  The fields stay readable.  0, or -errno of the first write
 * that failed during the whole collection.
 */
int collect_close(struct collector *c, enum hr_host_reason reason, const char *message);

/* Among the collector's own files. */
int collect_init(struct collector *c, size_t index_max);
/* Takes note of a verified chunk; returns what is wrong with it, or NULL. */
const char *collect_note_chunk(struct collector *c, const struct hr_chunk_header *header,
                               const uint8_t *payload, uint64_t offset);
void collect_index_chunk(struct collector *c, const struct hr_chunk_header *header,
                         uint64_t offset);
void collect_free_index(struct collector *c);

/* The reason for an end of the stream without any other cause. */
enum hr_host_reason collect_reason(const struct collector *c);

#endif
