/* Moves bytes from one open file to another, not through the program's memory.
 *
 * Context: thread, with the kernel lock held; may wait.  The caller holds the files. */
#pragma once

#include "guest/file/files.h"

/* A file and a position in it. */
struct transfer_end {
    struct file *file;
    uint64_t offset; /* for seekable files; advances */
    bool blocks;
};

bool transfer_can_read(const struct file *file);
bool transfer_can_write(const struct file *file);

/* Moves at most `bytes` bytes, until the source has no more or the destination takes no more; with
 * `at_once`, only as much as there is now.  Returns their number, or -errno if there are none. */
int64_t transfer(struct thread *thread, struct transfer_end *from, struct transfer_end *to,
                 uint64_t bytes, bool at_once);
