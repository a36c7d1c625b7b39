/* epoll: sets of files whose readiness is collected.  Thread context, by the kernel lock's holder.
 *
 * An entry that became ready is queued; epoll_wait looks at the queue only, so that it costs what
 * is ready and not what is watched.  Level-triggered entries are queued again behind the others,
 * until a look finds them not ready.
 */
#ifndef GUEST_FILE_EPOLL_H
#define GUEST_FILE_EPOLL_H

#include "guest/file/epoll_queue.h"
#include "guest/file/files.h"
#include "guest/file/poll.h"

#define EPOLL_NESTING_MAX 4u /* epolls that watch epolls */

struct epoll_entry {
    struct epoll_link ready; /* first: the queue's */
    struct poll_watch watch;
    struct epoll *epoll;
    struct epoll_entry *next; /* of this epoll */
    struct epoll_entry *previous;
    int32_t fd;
    uint32_t events; /* asked for; 0: one-shot, reported */
    uint64_t data;
};

struct epoll {
    struct file *file;
    struct epoll_entry *entries;
    struct epoll_queue ready;
    uint32_t waiting;
    uint64_t walk; /* the last one that came here */
    uint32_t nesting; /* what it found */
};

extern const struct file_type file_epoll;

/* Gives a new file of this type its epoll; false: out of memory. */
bool epoll_attach(struct file *file);

/* Adds, changes or removes an entry.  0, -EEXIST, -ENOENT, -EPERM, -EINVAL, -ELOOP, -ENOMEM. */
int epoll_add(struct thread *thread, struct epoll *epoll, struct file *file, int32_t fd,
              uint32_t events, uint64_t data);
int epoll_change(struct thread *thread, struct epoll *epoll, struct file *file, int32_t fd,
                 uint32_t events, uint64_t data);
int epoll_remove(struct epoll *epoll, struct file *file, int32_t fd);

/* Writes what is ready now to the program's array: its number, or -EFAULT. */
int64_t epoll_collect(struct thread *thread, struct epoll *epoll, uint64_t user, uint32_t most);

#endif
