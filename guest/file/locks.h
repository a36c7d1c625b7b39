/* Advisory locks of files: flock's, and fcntl's on ranges, owned by the process or by an open file.
 *
 * Context: thread, with the kernel lock held; locks_set may wait. */
#pragma once

#include "guest/file/files.h"

enum lock_kind {
    LOCK_FLOCK, /* owned by an open file, on the whole file; ignores the other kinds */
    LOCK_PROCESS, /* owned by a process; released when it closes the file */
    LOCK_OPEN_FILE, /* F_OFD_* */
};

enum lock_mode { LOCK_NONE, LOCK_SHARED, LOCK_EXCLUSIVE };

struct lock_range { /* bytes first..last */
    enum lock_kind kind;
    enum lock_mode mode;
    uint64_t first;
    uint64_t last;
};

/* Locks or unlocks the range.  The caller holds the file.  Returns 0, -EAGAIN, -EINTR or -ENOLCK.
 */
int locks_set(struct thread *thread, struct file *file, const struct lock_range *range, bool waits);

/* Finds the lock that conflicts with this one of the process.  found->mode is LOCK_NONE if there is
 * none.  Returns the pid of its owner; 0: an open file. */
uint32_t locks_test(const struct process *process, const struct file *file,
                    const struct lock_range *range, struct lock_range *found);

/* Call when a descriptor of the process for this file was closed. */
void locks_closed(const struct process *process, const struct file *file);
void locks_file_gone(const struct file *file); /* call when its last user has released it */
