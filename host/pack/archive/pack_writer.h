/* Writes entries in cpio's newc format, in few system calls. */
#pragma once

#include <stdint.h>

#include "host/base/run_failure.h"
#include "host/pack/list/pack_list.h"

struct pack_writer {
    int fd;
    uint64_t offset; /* of the next byte, buffered or not */
    uint32_t next_inode;
    uint8_t *buffer;
    size_t buffered;
    struct run_failure *failure;
};

/* All functions but pack_writer_free return 0, or -1 with the failure filled. */
int pack_writer_init(struct pack_writer *w, int fd, struct run_failure *failure);
void pack_writer_free(struct pack_writer *w);

int pack_writer_add_bytes(struct pack_writer *w, const char *name, const void *bytes, size_t count);

/* Adds a directory, padded so that the next entry begins on a multiple of a page. */
/* As pack_writer_add_bytes, and fills up with zeros, so that the archive grows by a multiple of
 * `step`, which is one of 4. */
int pack_writer_add_filled(struct pack_writer *w, const char *name, const void *bytes, size_t count,
                           size_t step);
int pack_writer_align(struct pack_writer *w, const char *name);
int pack_writer_add_entry(struct pack_writer *w, const struct pack_entry *entry);
int pack_writer_end(struct pack_writer *w);

/* Writes the buffer. */
int pack_writer_flush(struct pack_writer *w);
