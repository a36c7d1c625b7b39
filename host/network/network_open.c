/* Binds the published ports before the guest starts. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "host/network/network.h"

#define DESCRIPTORS (RUN_NETWORK_NUMBERS + 2 * NETWORK_FLOWS + 256u)

/* Each connection is a descriptor.  Without so many, fewer clients are accepted. */
static void allow_descriptors(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= DESCRIPTORS)
        return;
    limit.rlim_cur = limit.rlim_max < DESCRIPTORS ? limit.rlim_max : DESCRIPTORS;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

static void address_of(const struct options_published *asked, struct network_address *a)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(asked->host_port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(asked->host_port)};

    a->bytes = asked->v6 ? sizeof v6 : sizeof v4;
    inet_pton(AF_INET, asked->address, &v4.sin_addr);
    inet_pton(AF_INET6, asked->address, &v6.sin6_addr);
    memcpy(&a->name, asked->v6 ? (const void *)&v6 : (const void *)&v4, a->bytes);
}

static int bind_port(struct network_published *p, const struct options_published *asked)
{
    struct network_address a;
    const int on = 1;

    address_of(asked, &a);
    p->fd = socket(a.name.ss_family,
                   (asked->udp ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (p->fd < 0)
        return -errno;
    if (!asked->udp)
        (void)setsockopt(p->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(p->fd, (const struct sockaddr *)&a.name, a.bytes) != 0 ||
        (!asked->udp && listen(p->fd, SOMAXCONN) != 0) ||
        getsockname(p->fd, (struct sockaddr *)&a.name, &a.bytes) != 0)
        return -errno;
    p->port = network_address_port(&a);
    return 0;
}

static int open_port(struct network *n, const struct options_published *asked,
                     struct run_failure *failure)
{
    struct network_published *p = &n->published[n->published_count++];
    int error;

    *p = (struct network_published){
        .udp = asked->udp, .chosen = asked->host_port == 0, .guest_port = asked->guest_port};
    strcpy(p->address, asked->address);
    if (asked->udp)
        p->clients = calloc(NETWORK_CLIENTS, sizeof *p->clients);
    error = asked->udp && p->clients == NULL ? -ENOMEM : bind_port(p, asked);
    if (error == 0)
        return 0;
    return run_fail(failure, "--publish: port %u of %s: %s", asked->host_port, asked->address,
                    strerror(-error));
}

int network_open(struct network *n, const struct options *o, struct run_failure *failure)
{
    n->user = o->network;
    n->published_count = 0;
    n->turn = 0;
    n->leave_ns = 0;
    n->bad = NULL;
    for (uint32_t i = 0; i < RUN_NETWORK_NUMBERS; i++)
        n->connections[i] = (struct network_connection){.fd = -1};
    n->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (n->wake < 0)
        return run_fail(failure, "cannot make an event descriptor: %s", strerror(errno));
    if (o->network || o->published_count != 0)
        allow_descriptors();
    for (size_t i = 0; i < o->published_count; i++)
        if (open_port(n, &o->published[i], failure) != 0)
            return -1;
    return 0;
}
