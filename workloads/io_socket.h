/* What the programs about sockets share. */
#ifndef WORKLOADS_IO_SOCKET_H
#define WORKLOADS_IO_SOCKET_H

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

static inline int readiness(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN | POLLOUT | POLLRDHUP};

    return poll(&p, 1, 0) < 0 ? -1 : p.revents;
}

static inline int number(int fd, int level, int name)
{
    int value = -1;
    socklen_t bytes = sizeof value;

    return getsockopt(fd, level, name, &value, &bytes) < 0 ? -1 : value;
}

static inline int ready_bytes(int fd)
{
    int value = -1;

    return ioctl(fd, FIONREAD, &value) < 0 ? -1 : value;
}

#endif
