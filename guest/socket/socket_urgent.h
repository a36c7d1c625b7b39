/* Urgent data of streams (MSG_OOB): one byte of the stream, at the mark.
 *
 * The byte stays in the queue, where it stands in the stream.  MSG_OOB reads a copy of it, at once;
 * other calls stop before the mark, and leave the byte out when they begin there, unless
 * SO_OOBINLINE is set.  There is one mark: a later urgent byte makes the one before it an ordinary
 * byte, or takes it away where Linux does so.
 *
 * Context: thread, with the kernel lock held. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct socket;
struct socket_message;
struct thread;

enum socket_urgent_state {
    SOCKET_URGENT_NONE,
    SOCKET_URGENT_UNREAD,
    SOCKET_URGENT_READ /* by MSG_OOB: the mark is still there */
};

struct socket_urgent {
    uint32_t ahead; /* bytes in the queue before the mark */
    uint8_t state; /* enum socket_urgent_state */
    uint8_t byte;
};

/* Returns true if a message may not have urgent data in it. */
bool socket_urgent_refused(const struct socket *s, const struct socket_message *m);

/* The last byte of to's queue is urgent: tells the owner of its file by SIGURG. */
void socket_urgent_mark(struct socket *to);

/* MSG_OOB: hands the byte out, and never waits. */
int64_t socket_urgent_receive(struct socket *s, struct socket_message *m);

bool socket_urgent_at_mark(const struct socket *s); /* SIOCATMARK */
uint32_t socket_urgent_hole(const struct socket *s); /* 1: the next byte is left out; else 0 */
uint32_t socket_urgent_before(const struct socket *s); /* bytes up to where a call must stop */
uint32_t socket_urgent_ready(const struct socket *s); /* what FIONREAD gives */

/* Call before a call that has received `done` bytes takes more.  Returns 1 to continue, or what
 * ends the call: at the mark, one that has received something ends, and one that has not lets
 * signals in before it loses the byte. */
int64_t socket_urgent_pass(struct thread *thread, struct socket *s, const struct socket_message *m,
                           uint64_t done);

void socket_urgent_taken(struct socket *s, uint64_t bytes); /* were taken out of the queue */
