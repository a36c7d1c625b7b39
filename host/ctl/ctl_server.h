/* A run's side of its control socket: one client at a time, one request each. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/un.h>

#include "host/ctl/ctl_socket.h"

struct ctl_server {
    struct sockaddr_un address;
    int listener; /* -1: the run cannot be steered */
    int client; /* -1: there is none */
};

struct ctl_answer {
    bool done;
    char text[CTL_PACKET_MAX - 1]; /* for people */
};

/* Carries out a request, which is hostile text without a NUL inside. */
typedef void ctl_perform(void *context, const char *request, struct ctl_answer *answer);

/* Opens the socket of this process.  Returns 0, or -errno with a server that never does anything.
 */
int ctl_server_open(struct ctl_server *server);
void ctl_server_close(struct ctl_server *server);

/* The listener is readable: takes the next client, instead of the one before. */
void ctl_server_accept(struct ctl_server *server, ctl_perform *perform, void *context);

/* The client is readable: answers its request, and lets it go. */
void ctl_server_serve(struct ctl_server *server, ctl_perform *perform, void *context);
