/* The index at the end of hr.bin: one entry a chunk, so that a reader finds a time at once.
 *
 * The collector feeds a builder with every chunk that it writes and appends the index when the
 * stream has ended; a reader loads it, or rebuilds it from the chunk headers when it is missing or
 * wrong.  Functions return 0 or -errno and never print.
 */
#ifndef HOST_TRACE_INDEX_H
#define HOST_TRACE_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "include/hr_format.h"

/* Bounds memory: 200 MB, for a quarter of a terabyte of the guest's usual chunks. */
#define TRACE_INDEX_ENTRIES_MAX (1u << 22)

struct trace_index {
    struct hr_index_entry *entries; /* in file order; owned */
    size_t count;
    size_t capacity;
    uint64_t first_offset; /* of the first INDEX chunk, after trace_index_load; otherwise 0 */
};

void trace_index_init(struct trace_index *index);
void trace_index_free(struct trace_index *index);

/* Adds the chunk whose header lies at `offset` in the file.  -ENOMEM, or -E2BIG when it is full. */
int trace_index_add(struct trace_index *index, const struct hr_chunk_header *header,
                    uint64_t offset);

/* Writes the INDEX chunks and the trailer at the end of the trace, which is `offset` bytes long
 * and where the file position of fd is.  Stores the number of bytes written in *bytes (may be
 * NULL).  -ENOMEM or the error of write().
 */
int trace_index_append(const struct trace_index *index, int fd, uint64_t offset, uint64_t *bytes);

/* Loads the index of a complete file.  -ENODATA when there is none; -EBADMSG when it is damaged or
 * contradicts itself; -ENOMEM; the error of pread().
 */
int trace_index_load(struct trace_index *index, int fd);

/* The first entry that may hold a record at or after `time`: a DATA entry with time_last >= time.
 * index->count when there is none.
 */
size_t trace_index_find(const struct trace_index *index, uint64_t time);

#endif
