/* The index at the end of hr.bin: one entry a chunk, so that a reader finds a time at once.
 *
 * The collector feeds a builder with every chunk that it writes and appends the index when the
 * stream has ended; a reader loads it, or rebuilds it from the chunk headers when it is missing or
 * wrong.  Functions return 0 or -errno and never print.
 */
#ifndef HOST_TRACE_TRACE_INDEX_H
#define HOST_TRACE_TRACE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/hr_format.h"

/* Bounds memory: 100 MB, for an eighth of a terabyte of the guest's usual chunks. */
#define TRACE_INDEX_ENTRIES_MAX (1u << 21)

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

/* Lists the chunks from `offset` to the end of a file of `file_bytes` by their headers: what an
 * index would say.  -EBADMSG or -E2BIG when it stopped at something else than a whole chunk, or
 * was full: then the entries are those before.  -ENOMEM; the error of pread().
 */
int trace_index_walk(struct trace_index *index, int fd, uint64_t offset, uint64_t file_bytes);

/* What the header of an entry's chunk says, as far as the entry knows. */
struct hr_chunk_header trace_index_header(const struct hr_index_entry *entry);

/* Whether that is what the header at `offset` says. */
bool trace_index_matches(const struct hr_index_entry *entry, const struct hr_chunk_header *header,
                         uint64_t offset);

/* The first entry that may hold a record at or after `time`: a DATA entry with time_last >= time.
 * index->count when there is none.
 */
size_t trace_index_find(const struct trace_index *index, uint64_t time);

#endif
