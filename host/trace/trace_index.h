/* The index at the end of hr.bin: one entry per chunk, so that a reader finds a time quickly.
 *
 * The collector feeds a builder with every chunk that it writes, and appends the index after the
 * stream has ended.  A reader loads it, or rebuilds it from the chunk headers if it is missing or
 * wrong.  Functions return 0 or -errno and never print.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/hr_format.h"

/* Bounds memory to 100 MB, which suffices for an eighth of a terabyte of the guest's usual chunks.
 */
#define TRACE_INDEX_ENTRIES_MAX (1u << 21)

struct trace_index {
    struct hr_index_entry *entries; /* in file order; owned */
    size_t count;
    size_t capacity;
    uint64_t first_offset; /* offset of the first INDEX chunk after trace_index_load; else 0 */
};

void trace_index_init(struct trace_index *index);
void trace_index_free(struct trace_index *index);

/* Adds the chunk whose header is at `offset` in the file.  Returns 0, -ENOMEM, or -E2BIG if the
 * index is full. */
int trace_index_add(struct trace_index *index, const struct hr_chunk_header *header,
                    uint64_t offset);

/* Writes the INDEX chunks and the trailer at the end of the trace, which is `offset` bytes long;
 * the file position of fd must be there.  Stores the number of bytes written in *bytes (may be
 * NULL).  Returns 0, -ENOMEM or the error of write(). */
int trace_index_append(const struct trace_index *index, int fd, uint64_t offset, uint64_t *bytes);

/* Loads the index of a complete file.  Returns 0; -ENODATA if there is none; -EBADMSG if it is
 * damaged or contradicts itself; -ENOMEM; the error of pread(). */
int trace_index_load(struct trace_index *index, int fd);

/* Builds the index of the chunks from `offset` to the end of a file of `file_bytes` from their
 * headers.  Returns 0; -EBADMSG if it met something other than a whole chunk, or -E2BIG if the
 * index is full, both with the entries before that; -ENOMEM; the error of pread(). */
int trace_index_walk(struct trace_index *index, int fd, uint64_t offset, uint64_t file_bytes);

/* Returns the header of an entry's chunk, as far as the entry knows it. */
struct hr_chunk_header trace_index_header(const struct hr_index_entry *entry);

/* Returns whether an entry agrees with the header at `offset`. */
bool trace_index_matches(const struct hr_index_entry *entry, const struct hr_chunk_header *header,
                         uint64_t offset);
