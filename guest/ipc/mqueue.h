/* POSIX message queues: mq_open and the calls on its descriptors, and /dev/mqueue.
 *
 * A queue is an inode in the directory /dev/mqueue: names, permissions and removal are those of
 * files, and what reads the file gets a line about the queue.  A message goes to the receiver that
 * waits longest; with a full queue the sender that waits longest is next.
 *
 * Context: thread, with the kernel lock held. */
#pragma once

#include "guest/file/files.h"

#define MQUEUE_DIRECTORY "/dev/mqueue"
#define MQUEUE_QUEUES_MAX 256u /* the values of /proc/sys/fs/mqueue */
#define MQUEUE_MESSAGES_MAX 10u
#define MQUEUE_BYTES_MAX 8192u
#define MQUEUE_COOKIE_BYTES 32u /* that C libraries' threads read from a netlink socket */
#define MQUEUE_WOKEN 1 /* a cookie's last byte: a message came, or the request was taken back */
#define MQUEUE_REMOVED 2

struct mqueue_message {
    struct mqueue_message *next; /* of the same or a lower priority */
    uint32_t priority;
    uint64_t bytes;
    uint8_t text[];
};

struct mqueue_waiter { /* on the waiting thread's stack */
    struct mqueue_waiter *next;
    struct thread *thread;
    struct mqueue_message *message; /* to send; or that was received */
    bool done;
};

struct mqueue_notice { /* whom mq_notify wants to be told */
    uint32_t pid; /* 0: none; a process may end without closing files that another one shares */
    uint32_t kind; /* SIGEV_* */
    uint32_t signal;
    uint64_t value;
    struct file *socket; /* SIGEV_THREAD: held; gets the cookie */
    uint8_t cookie[MQUEUE_COOKIE_BYTES];
};

struct mqueue {
    uint64_t messages_max, bytes_max; /* of the queue; of a message */
    uint64_t count, bytes; /* messages, and what is in them */
    struct mqueue_message *first;
    struct mqueue_waiter *senders, *receivers;
    struct mqueue_notice notice;
    struct file *files; /* open ones, by next_of_pipe */
};

/* The files of the queues; as a directory's type: the directory's new files are queues. */
extern const struct file_type mqueue_file;

/* Makes an inode a queue.  Returns 0, -ENOSPC, -EMFILE (RLIMIT_MSGQUEUE) or -ENOMEM. */
int mqueue_make(struct inode *inode, uint64_t messages_max, uint64_t bytes_max);

/* Adds a message by its priority. */
void mqueue_add(struct mqueue *queue, struct mqueue_message *message);

void mqueue_changed(const struct mqueue *queue, uint32_t events); /* tells polls */

/* guest/ipc/mqueue_notify.c: a message came into the empty queue. */
void mqueue_notify(struct mqueue *queue, const struct process *sender);

/* Takes back what a process asked for, if it did. */
void mqueue_forget(struct mqueue *queue, const struct process *process);
