/* A machine at the collector: its socket, its connection, its run and the times that it has. */
#ifndef HOST_COLLECT_STREAM_CLIENT_H
#define HOST_COLLECT_STREAM_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "host/collect/stream_connection.h"
#include "host/collect/stream_job.h"
#include "host/collect/stream_listen.h"

#define CLIENT_READ_BYTES (256u << 10) /* at most, from one machine before it is another's turn */

struct client {
    int fd; /* -1: it is gone, but a job still works on its run */
    char peer[LISTEN_TEXT_BYTES];
    struct connection connection;
    struct stream_run *run; /* from OPENING on until it is left; owned */
    struct job job;
    uint64_t since_ns; /* when it came */
    uint64_t heard_ns; /* when it last sent something */
    uint64_t fresh_ns; /* when it last sent something of its run */
    uint64_t fresh_bytes; /* that the run had then */
    uint64_t acked_ns;
    uint64_t closing_ns; /* when it entered CLOSING; 0: it did not */
    bool is_shut; /* nothing is sent any more */
};

struct client *client_new(int fd, const char *peer, uint64_t now_ns);

/* Nobody works on its run, which is closed. */
void client_free(struct client *c);

/* What poll() is to look for. */
short client_wants(const struct client *c);

/* Reads once and takes what came.  Bytes; 0: it closed the connection; -errno, -EAGAIN: nothing. */
ssize_t client_receive(struct client *c, const char *token, uint64_t now_ns);

/* Acknowledges when there is enough or it is time to, and sends what can be sent.  0 or -errno. */
int client_send(struct client *c, uint64_t now_ns);

/* When something must be done though nothing comes; UINT64_MAX: never. */
uint64_t client_deadline(const struct client *c, uint64_t idle_ns);

/* Why it must go now, for people, or NULL. */
const char *client_overdue(const struct client *c, uint64_t idle_ns, uint64_t now_ns);

/* Whether two speak of the same run. */
bool client_same_run(const struct client *a, const struct client *b);

/* It has or gets a run: it counts. */
static inline bool client_is_machine(const struct client *c)
{
    return c->run != NULL;
}

#endif
