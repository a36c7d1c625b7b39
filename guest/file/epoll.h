/* epoll: sets of files whose readiness is collected.
 *
 * An entry that became ready is queued; epoll_wait looks at the queue only, so its cost depends on
 * how many files are ready, not on how many are watched.  A level-triggered entry is queued again
 * after the others until it is found not ready.
 *
 * Context: thread, with the kernel lock held. */
#pragma once

#include "guest/file/epoll_queue.h"
#include "guest/file/files.h"
#include "guest/file/poll.h"

#define EPOLL_NESTING_MAX 4u /* how deep epolls may watch epolls */

struct epoll_entry {
    struct epoll_link ready; /* first member; in the epoll's queue */
    struct poll_watch watch;
    struct epoll *epoll;
    struct epoll_entry *next; /* in the list of this epoll */
    struct epoll_entry *previous;
    int32_t fd;
    uint32_t events; /* asked for; 0: a one-shot entry that was reported */
    uint64_t data;
};

struct epoll {
    struct file *file;
    struct epoll_entry *entries;
    struct epoll_queue ready;
    uint32_t waiting;
    uint64_t walk; /* number of the last walk that came here: guest/file/epoll.c */
    uint32_t nesting; /* what that walk found */
};

extern const struct file_type epoll_file;

/* Gives a new file of this type its epoll.  Returns false if out of memory. */
bool epoll_attach(struct file *file);

/* Add, change and remove an entry.  Return 0, -EEXIST, -ENOENT, -EPERM, -EINVAL, -ELOOP or -ENOMEM.
 */
int epoll_add(struct thread *thread, struct epoll *epoll, struct file *file, int32_t fd,
              uint32_t events, uint64_t data);
int epoll_change(struct thread *thread, struct epoll *epoll, struct file *file, int32_t fd,
                 uint32_t events, uint64_t data);
int epoll_remove(struct epoll *epoll, struct file *file, int32_t fd);

/* Writes at most `most` ready entries to the program's array.  Returns how many, or -EFAULT. */
int64_t epoll_collect(struct thread *thread, struct epoll *epoll, uint64_t user, uint32_t most);
