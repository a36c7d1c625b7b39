/* Sockets of the machine's own: AF_UNIX, TCP and UDP over its loopback, and AF_NETLINK.
 *
 * There are no packets on a wire.  Each socket owns the queue of what it is to receive; a sender
 * copies from its memory straight into that queue and wakes the receiver.  Two connected sockets
 * know each other as `peer`, which they hold: a socket that was closed stays, without its queue,
 * until its peer is closed, too.
 *
 * Nothing here releases the kernel lock except socket_wait and files_release: between two waits a
 * socket that was found stays as it is.
 *
 * Functions return 0 or more, or -errno.  Context: thread, with the kernel lock held. */
#pragma once

#include <sys/socket.h>

#include "guest/file/files.h"
#include "guest/socket/socket_bytes.h"
#include "guest/socket/socket_inet.h"
#include "guest/socket/socket_netlink.h"
#include "guest/socket/socket_option.h"
#include "guest/socket/socket_outside.h"
#include "guest/socket/socket_queue.h"
#include "guest/socket/socket_urgent.h"
#include "guest/thread/wait.h"

#define SOCKET_NAME_MAX 128u /* bytes of any address: struct sockaddr_storage */

enum socket_state {
    SOCKET_NEW, /* not connected */
    SOCKET_LISTENS,
    SOCKET_CONNECTING, /* TCP: in the `connecting` list of a listener whose queue is full */
    SOCKET_CONNECTED
};

enum socket_shut { SOCKET_SHUT_READ = 1, SOCKET_SHUT_WRITE = 2, SOCKET_SHUT_BOTH = 3 };

struct socket_list { /* of sockets, by `next` */
    struct socket *first, *last;
    uint32_t length;
};

/* What a call sends, or receives. */
struct socket_message {
    struct socket_bytes bytes;
    uint32_t flags; /* MSG_* of the call; MSG_DONTWAIT also for a file that does not block */
    uint32_t got; /* MSG_* of the result */
    uint32_t name_bytes; /* 0: there is none */
    struct socket_rights rights; /* held files */
    uint8_t name[SOCKET_NAME_MAX]; /* struct sockaddr_*: where to, or where from */
};

/* What a family and type of sockets can do.  NULL: EOPNOTSUPP. */
struct socket_kind {
    int (*bind)(struct thread *thread, struct socket *s, const void *name, uint32_t bytes);
    int64_t (*connect)(struct thread *thread, struct socket *s, const void *name, uint32_t bytes,
                       uint64_t deadline);
    int (*listen)(struct thread *thread, struct socket *s); /* prepares what will listen */
    int64_t (*send)(struct thread *thread, struct socket *s, struct socket_message *m);
    int64_t (*receive)(struct thread *thread, struct socket *s, struct socket_message *m);
    uint32_t (*poll)(const struct socket *s);
    /* Writes a name, SOCKET_NAME_MAX bytes at most.  Returns the length, or 0: there is no peer. */
    uint32_t (*name)(const struct socket *s, enum socket_whose whose, void *out);
    void (*leave)(struct socket *s); /* gives its name up */
};

struct socket_unix { /* guest/socket/socket_unix.c */
    uint16_t name_bytes; /* of sun_path; 0: no name */
    char name[108];
    struct inode *inode; /* held; that the name leads to */
    struct socket *next_named; /* abstract names with the same hash */
};

struct socket {
    const struct socket_kind *kind;
    struct file *file; /* NULL: not accepted yet, or closed */
    uint32_t references; /* its file or its listener's queue, its peer, those that wait for it */
    uint16_t domain, type, protocol;
    uint8_t state; /* enum socket_state */
    uint32_t
        outside; /* 0: not; else 1 + the number of its connection, or SOCKET_OUTSIDE_DATAGRAMS */
    uint8_t shut; /* SOCKET_SHUT_*, by this end or the other one */
    bool closed;
    bool tells_connect; /* the next connect tells how the last one ended */
    bool fin; /* TCP: the other end sends no more */
    bool resets; /* closing it ends the connection as if there were unread data */
    int32_t error; /* SO_ERROR */
    uint32_t own_pid, peer_pid; /* who connects or listens; SO_PEERCRED; 0: none */
    struct socket *peer; /* held */
    struct socket_queue in;
    struct socket_urgent urgent; /* in it; of streams */
    uint32_t readers, writers; /* threads that wait for data or connections; for room */
    /* of a listener */
    uint32_t backlog;
    struct socket_list accepted; /* connected, and not yet taken by accept */
    struct socket_list connecting;
    struct socket *next; /* in one of these lists */
    struct socket *listener; /* whose `connecting` list it is in */
    struct socket *all_next, *all_previous; /* in the list of all: guest/socket/socket_collect.c */
    struct socket *reached_next;
    uint32_t in_packets; /* how often a packet holds its file */
    bool reached;
    struct socket_options options;
    union {
        struct socket_unix local;
        struct socket_inet inet;
        struct socket_netlink netlink;
    };
};

static inline bool socket_is_unix(const struct socket *s)
{
    return s->domain == AF_UNIX;
}

extern const struct file_type socket_file;

/* Returns the socket of a file, or NULL. */
static inline struct socket *socket_of(const struct file *file)
{
    return file->type == &socket_file ? file->state : NULL;
}

/* socket_new makes a socket with one reference; NULL: no memory.  socket_close ends the reference
 * of its file or listener. */
struct socket *socket_new(const struct socket_kind *kind, int domain, int type, int protocol);
void socket_hold(struct socket *s);
void socket_release(struct socket *s);
void socket_close(struct socket *s);

/* Makes a file for a socket, without a descriptor; takes the socket's reference, also if it fails.
 * NULL: no memory. */
struct file *socket_make_file(struct process *process, struct socket *s, uint32_t flags);

/* A time limit: 0 does not wait. */
uint64_t socket_deadline(const struct socket *s, uint32_t flags, bool sends);

/* Waits until one of `*waiting` is woken.  Returns 0, -EAGAIN or -EINTR; then look again before you
 * return that. */
int64_t socket_wait(struct thread *thread, uint32_t *waiting, uint64_t deadline, const char *what);

/* Call when one of these POLL* may hold now: wake those that wait for data or for room. */
void socket_tell_readers(struct socket *s, uint32_t events);
void socket_tell_writers(struct socket *s);
void socket_tell_all(struct socket *s); /* its state changed */

int socket_take_error(struct socket *s); /* SO_ERROR as 0 or -errno; there is none afterwards */

void socket_list_add(struct socket_list *list, struct socket *s);
struct socket *socket_list_take(struct socket_list *list); /* the first; NULL: none */
void socket_list_remove(struct socket_list *list, struct socket *s);

extern const struct socket_kind socket_unix_stream, socket_unix_datagram, socket_tcp, socket_udp;
extern const struct socket_kind socket_netlink;

/* ---- guest/socket/socket_stream.c: streams and SOCK_SEQPACKET */

int64_t socket_stream_send(struct thread *thread, struct socket *s, struct socket_message *m);
int64_t socket_stream_receive(struct thread *thread, struct socket *s, struct socket_message *m);
uint32_t socket_stream_poll(const struct socket *s);

/* Call after bytes were taken out of s->in, which had `before`: tells the sender when it becomes
 * writable, and one that waits at once. */
void socket_stream_was_taken(struct socket *s, uint32_t before);

/* ---- guest/socket/socket_connection.c: how they begin and end */

void socket_stream_join(struct socket *a, struct socket *b); /* makes them each other's peers */

/* Begins to connect to a listener: 0, or -EINPROGRESS while its queue is full, or -ENOBUFS. */
int socket_stream_begin(struct socket *s, struct socket *listener);

/* Connects to a listener: makes what its accept will give.  While its queue is full, waits or, for
 * TCP that does not wait, returns -EINPROGRESS; socket_stream_await continues it. */
int64_t socket_stream_connect(struct thread *thread, struct socket *s, struct socket *listener,
                              uint64_t deadline);
int64_t socket_stream_await(struct thread *thread, struct socket *s, uint64_t deadline);

void socket_stream_taken(struct socket *listener); /* call after one was accepted */
void socket_stream_refuse(struct socket *listener); /* ends what was not accepted */
int socket_stream_listen(struct thread *thread, struct socket *s, int32_t backlog);
int64_t socket_stream_shutdown(struct socket *s, uint32_t how); /* SOCKET_SHUT_* */
void socket_stream_closed(struct socket *s); /* tells the peer */

/* ---- guest/socket/socket_datagram.c: what the datagrams of both families share */

/* Puts what a message has into a packet for `to`, after a name; NULL: *error says why. */
struct socket_packet *socket_datagram_make(const struct socket *to, struct socket_message *m,
                                           const void *name, uint32_t name_bytes, int *error);
void socket_datagram_put(struct socket *to, struct socket_packet *packet);
int64_t socket_datagram_receive(struct thread *thread, struct socket *s, struct socket_message *m);
/* Hands out the first packet, which stays there with MSG_PEEK.  Returns its length or -errno. */
int64_t socket_datagram_take(struct socket *s, struct socket_message *m);
uint32_t socket_datagram_poll(const struct socket *s, bool room);

/* ---- guest/socket/socket_collect.c */

void socket_collect_add(struct socket *s); /* to the list of all sockets */
void socket_collect_remove(struct socket *s);
const struct socket *socket_collect_next(const struct socket *s); /* NULL: the first, the end */

/* Frees the files in packets of sockets that nothing else can reach.  May wait. */
void socket_collect(void);

/* ---- guest/socket/socket_call.c */

/* Writes a name to the program, cut to its room, and its length. */
int64_t socket_write_name(const void *name, uint32_t bytes, uint64_t user, uint64_t user_bytes);

/* Returns the socket of a descriptor, or NULL and *error. */
struct socket *socket_at(const struct thread *thread, uint64_t fd, int64_t *error);
