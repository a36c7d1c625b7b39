/* Queues of messages: msgget, msgsnd, msgrcv, msgctl.
 *
 * A message that a waiting receiver wants is handed to it; others are kept in the order of sending.
 * Senders wait until there is room, and are then woken to try again.
 *
 * Context: thread, with the kernel lock held. */
#pragma once

#include "guest/ipc/ipc.h"

#define MSG_QUEUES_MOST 32000u /* MSGMNI */
#define MSG_BYTES_MAX 8192u /* MSGMAX: of a message */
#define MSG_QUEUE_BYTES 16384u /* MSGMNB: of a queue, at first and at most */

struct msg_message {
    struct msg_message *next;
    int64_t type;
    uint64_t bytes;
    uint8_t text[];
};

struct msg_want { /* which messages a receiver takes */
    enum msg_search { MSG_ANY, MSG_EQUAL, MSG_OTHER, MSG_LOWEST, MSG_NUMBER } search;
    int64_t type; /* MSG_LOWEST: the highest; MSG_NUMBER: the position */
};

struct msg_waiter { /* on the waiting thread's stack */
    struct msg_waiter *next, *previous;
    struct thread *thread;
    bool sends;
    uint64_t bytes; /* of the message; of a receiver: that it has room for */
    struct msg_want want;
    struct msg_message *message; /* that a receiver was given */
    int result; /* 1: it waits; then it is off the list. 0: woken */
};

struct msg_queue {
    struct ipc_object object;
    struct msg_message *first, **end; /* `end` points to the last message's `next` */
    uint64_t bytes, count; /* of its messages */
    uint64_t bytes_max;
    uint64_t sent, received; /* times, in seconds since 1970; 0: never */
    uint32_t sender, receiver; /* the last processes */
    struct msg_waiter *first_waiter, *last_waiter;
};

extern struct ipc_kind msg_queues;
extern uint64_t msg_count, msg_bytes; /* of messages in all queues */

/* Returns the link to the message that the receiver is to have, or NULL.  Pure logic. */
struct msg_message **msg_search(struct msg_message **first, const struct msg_want *want);
void msg_free(struct msg_message *message);

/* Ends all waits with `result`: 0 (they try again) or -EIDRM. */
void msg_end_waits(struct msg_queue *queue, int result);

/* The text of /proc/sysvipc/msg. */
struct inode;
void msg_list(const struct thread *thread, const struct inode *inode, struct text *text);
