/* Bytes from one open file to another without the program's memory.  Thread context, by the kernel
 * lock's holder; may wait.  The files are held by the caller.
 */
#ifndef GUEST_FILE_TRANSFER_H
#define GUEST_FILE_TRANSFER_H

#include "guest/file/files.h"

/* A file and where in it. */
struct transfer_end {
    struct file *file;
    uint64_t offset; /* where it can be sought in; moves on */
    bool blocks;
};

bool transfer_can_read(const struct file *file);
bool transfer_can_write(const struct file *file);

/* Moves at most `bytes` bytes: until the source has no more, the destination takes no more, or
 * (`at_once`) as much as there is now.  Their number, or -errno when there are none. */
int64_t transfer(struct thread *thread, struct transfer_end *from, struct transfer_end *to,
                 uint64_t bytes, bool at_once);

#endif
