/* The collector's port: "", "PORT", "ADDRESS", "ADDRESS:PORT", "[IPV6]", "[IPV6]:PORT". */
#pragma once

#include <netdb.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "host/base/run_failure.h"

#define LISTEN_TEXT_BYTES (NI_MAXHOST + NI_MAXSERV + 4)

struct listen_place {
    char host[NI_MAXHOST]; /* default 127.0.0.1 */
    char port[6]; /* default RUN_STREAM_PORT; "0": any */
};

/* Returns 0, or -1 with the failure filled. */
int stream_listen_parse(const char *text, struct listen_place *place, struct run_failure *failure);

/* Returns a non-blocking listening socket, or -1 with the failure filled.  `where` gets the actual
 * "ADDRESS:PORT"; `beyond`: other machines can reach it. */
int stream_listen_open(const struct listen_place *place, char where[LISTEN_TEXT_BYTES],
                       bool *beyond, struct run_failure *failure);

/* Writes "ADDRESS" of a peer, "[ADDRESS]" if it is IPv6. */
char *stream_listen_peer(char out[LISTEN_TEXT_BYTES], const struct sockaddr_storage *address,
                         socklen_t bytes);
