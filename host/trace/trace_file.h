/* Reads hr.bin from front to back in constant memory, and continues after damage.
 *
 * Every header and payload that a caller sees has a matching checksum.  Anything else is returned
 * as damage, with its place and, if its header is intact, the header.  Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/hr_format.h"
#include "lib/trace/trace_reader.h"

struct trace_file {
    int fd;
    uint64_t file_bytes; /* size when it was opened, or trace_file_grow last looked */
    uint64_t first_chunk; /* where the first chunk should begin */
    uint64_t position; /* where the next chunk should begin */
    uint8_t *buffer;
    uint64_t buffer_offset; /* position of buffer[0] in the file */
    size_t buffer_bytes;
    size_t read_ahead; /* bytes to read at least; 0: of what else is read, nothing is wanted soon */
    int error; /* -errno of a failed read, else 0 */
    /* The file is still being written: what its end leaves open, which a piece that is not whole
     * does, is TRACE_STEP_END, and is read again when the file has grown. */
    bool growing;
    uint64_t search_start; /* where the search of what is left open began */
    uint64_t searched; /* no chunk begins between there and here */
};

enum trace_step {
    TRACE_STEP_END = 0,
    TRACE_STEP_CHUNK = 1,
    TRACE_STEP_DAMAGE = 2,
};

struct trace_chunk {
    struct hr_chunk_header header; /* all zero unless has_header */
    bool has_header; /* always true for TRACE_STEP_CHUNK */
    enum trace_status status; /* what is wrong, for damage */
    uint64_t offset; /* in the file */
    uint64_t bytes; /* in the file, header included */
    const uint8_t *payload; /* TRACE_STEP_CHUNK: valid until the next call; otherwise NULL */
};

/* "-" is standard input.  Returns 0 or -errno, such as -EBADMSG (not a trace), -EPROTONOSUPPORT
 * (another major version), -ESPIPE (not seekable), -ENODATA (empty).  A damaged file header is
 * damage, not an error. */
int trace_file_open(struct trace_file *file, const char *path);
void trace_file_close(struct trace_file *file);

/* Opens a second reader of a file, with its own position and buffer.  Returns 0 or -errno. */
int trace_file_share(struct trace_file *file, const struct trace_file *of);

/* Takes what was written since.  Returns 0, -ESTALE if the file has become shorter, or -errno. */
int trace_file_grow(struct trace_file *file);

/* Returns the meaning of an error of trace_file_open or trace_file_next, with a remedy. */
const char *trace_file_error(int error);

/* Reads the next chunk or damaged stretch.  Returns an enum trace_step, or -errno if reading
 * failed. */
int trace_file_next(struct trace_file *file, struct trace_chunk *chunk);

/* Reads only the header of the next chunk.  Returns whether one is there. */
bool trace_file_peek(struct trace_file *file, struct hr_chunk_header *header);

/* Moves to the offset of a chunk, as given by the index. */
void trace_file_seek(struct trace_file *file, uint64_t offset);
