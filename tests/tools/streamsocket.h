/* What test programs that speak to `hr collect --listen tcp:` share: connecting, saying hello. */
#ifndef TESTS_TOOLS_STREAMSOCKET_H
#define TESTS_TOOLS_STREAMSOCKET_H

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/boot/run_stream.h"

static inline void die(const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
    exit(1);
}

/* A socket connected to 127.0.0.1 (IPv6: ::1), or -1. */
static inline int connect_to(uint16_t port, bool v6)
{
    const struct sockaddr_in a4 = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct sockaddr_in6 a6 = {
        .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        die("socket");
    if (connect(fd, v6 ? (const struct sockaddr *)&a6 : (const struct sockaddr *)&a4,
                v6 ? sizeof a6 : sizeof a4) == 0)
        return fd;
    close(fd);
    return -1;
}

/* False: the other side closed the connection before. */
static inline bool send_all(int fd, const void *bytes, size_t count)
{
    const uint8_t *at = bytes;

    while (count > 0) {
        ssize_t sent = send(fd, at, count, MSG_NOSIGNAL);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        at += sent;
        count -= (size_t)sent;
    }
    return true;
}

static inline bool receive_all(int fd, void *bytes, size_t count)
{
    return recv(fd, bytes, count, MSG_WAITALL) == (ssize_t)count;
}

/* 32 hexadecimal digits. */
static inline bool parse_id(const char *hex, uint8_t id[16])
{
    for (int i = 0; i < 16; i++)
        if (sscanf(hex + 2 * i, "%2hhx", &id[i]) != 1)
            return false;
    return strlen(hex) == 32;
}

#endif
