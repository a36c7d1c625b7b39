/* Opens the collector's port. */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/collect/stream_listen.h"
#include "include/run_stream.h"

static int refuse(const char *text, struct run_failure *failure)
{
    return run_fail(failure, "--listen tcp:%s: write tcp:PORT, tcp:ADDRESS:PORT or tcp:[IPV6]:PORT",
                    text);
}

static bool is_number(const char *text)
{
    return *text != 0 && strspn(text, "0123456789") == strlen(text);
}

static bool copy(char *out, size_t room, const char *text, size_t bytes)
{
    if (bytes == 0 || bytes >= room)
        return false;
    memcpy(out, text, bytes);
    out[bytes] = 0;
    return true;
}

static bool copy_port(struct listen_place *place, const char *text)
{
    return is_number(text) && copy(place->port, sizeof place->port, text, strlen(text)) &&
           strtoul(text, NULL, 10) <= 65535;
}

int stream_listen_parse(const char *text, struct listen_place *place, struct run_failure *failure)
{
    const char *colon = strrchr(text, ':');
    const char *bracket = strchr(text, ']');

    snprintf(place->host, sizeof place->host, "127.0.0.1");
    snprintf(place->port, sizeof place->port, "%u", RUN_STREAM_PORT);
    if (text[0] == '[') {
        if (bracket == NULL ||
            !copy(place->host, sizeof place->host, text + 1, (size_t)(bracket - text - 1)))
            return refuse(text, failure);
        if (bracket[1] == 0 || (bracket[1] == ':' && copy_port(place, bracket + 2)))
            return 0;
        return refuse(text, failure);
    }
    if (text[0] == 0 || (is_number(text) && copy_port(place, text)))
        return 0;
    if (colon == NULL)
        return !is_number(text) && copy(place->host, sizeof place->host, text, strlen(text))
                   ? 0
                   : refuse(text, failure);
    if (strchr(text, ':') != colon || !copy_port(place, colon + 1) ||
        !copy(place->host, sizeof place->host, text, (size_t)(colon - text)))
        return refuse(text, failure);
    return 0;
}

static bool is_loopback(const struct sockaddr_storage *address)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;

    if (address->ss_family == AF_INET)
        return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
    return address->ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

static bool describe(const struct sockaddr_storage *address, socklen_t bytes, bool with_port,
                     char out[LISTEN_TEXT_BYTES])
{
    char host[NI_MAXHOST];
    char port[NI_MAXSERV];
    bool brackets = address->ss_family == AF_INET6;

    if (getnameinfo((const struct sockaddr *)address, bytes, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return false;
    snprintf(out, LISTEN_TEXT_BYTES, "%s%s%s%s%s", brackets ? "[" : "", host, brackets ? "]" : "",
             with_port ? ":" : "", with_port ? port : "");
    return true;
}

char *stream_listen_peer(char out[LISTEN_TEXT_BYTES], const struct sockaddr_storage *address,
                         socklen_t bytes)
{
    if (!describe(address, bytes, false, out))
        snprintf(out, LISTEN_TEXT_BYTES, "somebody");
    return out;
}

/* Returns a socket bound to this address, or -1 with errno. */
static int try_address(const struct addrinfo *address)
{
    const int on = 1;
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int error;

    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, SOMAXCONN) == 0)
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

int stream_listen_open(const struct listen_place *place, char where[LISTEN_TEXT_BYTES],
                       bool *beyond, struct run_failure *failure)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct sockaddr_storage bound = {0};
    socklen_t bytes = sizeof bound;
    struct addrinfo *found;
    int result = getaddrinfo(place->host, place->port, &hints, &found);
    int fd = -1;

    if (result != 0)
        return run_fail(failure, "--listen tcp: '%s': %s", place->host, gai_strerror(result));
    for (const struct addrinfo *a = found; a != NULL && fd < 0; a = a->ai_next)
        fd = try_address(a);
    freeaddrinfo(found);
    if (fd < 0)
        return run_fail(failure, "cannot listen on %s, port %s: %s", place->host, place->port,
                        strerror(errno));
    if (getsockname(fd, (struct sockaddr *)&bound, &bytes) != 0 ||
        !describe(&bound, bytes, true, where))
        snprintf(where, LISTEN_TEXT_BYTES, "%s:%s", place->host, place->port);
    *beyond = !is_loopback(&bound);
    return fd;
}
