/* A machine connected to the collector: its socket, its connection, its run and its timeouts. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/collect/stream_connection.h"
#include "host/collect/stream_job.h"
#include "host/collect/stream_listen.h"

#define CLIENT_READ_BYTES (256u << 10) /* limit per turn of a machine */

struct client {
    int fd; /* -1: closed, but a job still works on its run */
    char peer[LISTEN_TEXT_BYTES];
    struct connection connection;
    struct stream_run *run; /* from OPENING until it is closed; owned */
    struct job job;
    uint64_t since_ns; /* time of the connection */
    uint64_t heard_ns; /* time of the last data */
    uint64_t fresh_ns; /* time of the last data of its run */
    uint64_t fresh_bytes; /* bytes of the run at that time */
    uint64_t acked_ns;
    uint64_t closing_ns; /* when it entered CLOSING; 0: not yet */
    bool is_shut; /* nothing more is sent */
};

struct client *stream_client_new(int fd, const char *peer, uint64_t now_ns);

/* The run must be closed and have no job. */
void stream_client_free(struct client *c);

/* Returns the events for poll(). */
short stream_client_wants(const struct client *c);

/* Reads once and processes the data.  Returns bytes; 0 if the machine closed the connection;
 * -errno, with -EAGAIN if there is nothing. */
ssize_t stream_client_receive(struct client *c, const char *token, uint64_t now_ns);

/* Acknowledges if there is enough or it is time, and sends what can be sent.  Returns 0 or -errno.
 */
int stream_client_send(struct client *c, uint64_t now_ns);

/* Returns when to act even if nothing arrives; UINT64_MAX: never. */
uint64_t stream_client_deadline(const struct client *c, uint64_t idle_ns);

/* Returns why the machine must be disconnected now, for people, or NULL. */
const char *stream_client_overdue(const struct client *c, uint64_t idle_ns, uint64_t now_ns);

/* Returns whether two machines send the same run. */
bool stream_client_same_run(const struct client *a, const struct client *b);

/* Returns whether it has a run or is getting one, so that it counts as a machine. */
static inline bool client_is_machine(const struct client *c)
{
    return c->run != NULL;
}
