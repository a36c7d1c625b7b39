/* Advisory locks of files: flock, and fcntl's of ranges, of the process or of an open file.
 * Thread context, by the kernel lock's holder; locks_set may wait.
 */
#ifndef GUEST_FILE_LOCKS_H
#define GUEST_FILE_LOCKS_H

#include "guest/file/files.h"

enum lock_kind {
    LOCK_FLOCK, /* of an open file, the whole of it; sees no other kind */
    LOCK_PROCESS, /* of the one process: never in its own way; gone when it closes the file */
    LOCK_OPEN_FILE, /* F_OFD_* */
};

enum lock_mode { LOCK_NONE, LOCK_SHARED, LOCK_EXCLUSIVE };

struct lock_range { /* bytes first..last */
    enum lock_kind kind;
    enum lock_mode mode;
    uint64_t first;
    uint64_t last;
};

/* Locks or unlocks the range.  The file is held.  0, -EAGAIN, -EINTR, -ENOLCK. */
int locks_set(struct thread *thread, struct file *file, const struct lock_range *range, bool waits);

/* The lock that is in the way of this one, in *found; mode LOCK_NONE: there is none. */
void locks_test(const struct file *file, const struct lock_range *range, struct lock_range *found);

void locks_closed(const struct file *file); /* a descriptor of it was closed */
void locks_file_gone(const struct file *file); /* nobody uses it any more */

#endif
