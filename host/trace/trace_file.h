/* Reads hr.bin from front to back in constant memory, and finds its way again after damage.
 *
 * Every header and payload that a caller sees has a matching checksum; what has not is handed out
 * as damage with its place and, where the header survived, whose it was.  Never prints.
 */
#ifndef HOST_TRACE_TRACE_FILE_H
#define HOST_TRACE_TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/hr_format.h"
#include "lib/trace_reader.h"

struct trace_file {
    int fd;
    uint64_t file_bytes; /* when it was opened; later growth is not seen */
    uint64_t first_chunk; /* where the first chunk should begin */
    uint64_t position; /* where the next chunk should begin */
    uint8_t *buffer;
    uint64_t buffer_offset; /* of buffer[0] in the file */
    size_t buffer_bytes;
    int error; /* -errno of a failed read, 0 */
};

enum trace_step {
    TRACE_STEP_END = 0,
    TRACE_STEP_CHUNK = 1,
    TRACE_STEP_DAMAGE = 2,
};

struct trace_chunk {
    struct hr_chunk_header header; /* zero unless has_header */
    bool has_header; /* always true for TRACE_STEP_CHUNK */
    enum trace_status status; /* of damage: what is wrong */
    uint64_t offset; /* in the file */
    uint64_t bytes; /* in the file, header included */
    const uint8_t *payload; /* TRACE_STEP_CHUNK: valid until the next call; otherwise NULL */
};

/* 0 or -errno; among them -EBADMSG (not a trace), -EPROTONOSUPPORT (another major version),
 * -ESPIPE (not seekable), -ENODATA (empty).  A damaged file header is damage, not an error.
 */
int trace_file_open(struct trace_file *file, const char *path);
void trace_file_close(struct trace_file *file);

/* Another reader of the same file, with a place and a buffer of its own.  0 or -errno. */
int trace_file_share(struct trace_file *file, const struct trace_file *of);

/* What the error of trace_file_open or trace_file_next means and what to do about it. */
const char *trace_file_error(int error);

/* The next chunk or damaged stretch: an enum trace_step, or -errno when reading failed. */
int trace_file_next(struct trace_file *file, struct trace_chunk *chunk);

/* Continues at a chunk's offset, from the index. */
void trace_file_seek(struct trace_file *file, uint64_t offset);

#endif
