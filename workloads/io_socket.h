/* What the programs about sockets share. */
#pragma once

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "workloads/io.h"

static inline int number(int fd, int level, int name)
{
    int value = -1;
    socklen_t bytes = sizeof value;

    return getsockopt(fd, level, name, &value, &bytes) < 0 ? -1 : value;
}

/* Adds 1 to each of so many bytes, and sends them back. */
struct echo {
    int fd;
    int bytes;
};

static inline void *echo(void *argument)
{
    static char got[4000000];
    const struct echo *e = argument;

    if (recv(e->fd, got, (size_t)e->bytes, MSG_WAITALL) != e->bytes)
        abort();
    for (int i = 0; i < e->bytes; i++)
        got[i]++;
    return (void *)(intptr_t)write(e->fd, got, (size_t)e->bytes);
}

/* Has a thread echo what comes from the second end; the first one is watched by `watch`. */
static inline void exchange(const int pair[2], int watch, char *buffer, int bytes)
{
    struct echo other = {pair[1], bytes};
    struct epoll_event event = {0};
    pthread_t id;
    void *result;
    long good = 0;

    SAY(pthread_create(&id, NULL, echo, &other));
    for (int i = 0; i < bytes; i++)
        buffer[i] = (char)(i * 7);
    SAY(send(pair[0], buffer, (size_t)bytes, 0));
    SAY(epoll_wait(watch, &event, 1, -1));
    SAY(event.events & EPOLLIN);
    memset(buffer, 0, (size_t)bytes);
    SAY(recv(pair[0], buffer, (size_t)bytes, MSG_WAITALL));
    for (int i = 0; i < bytes; i++)
        good += buffer[i] == (char)(i * 7 + 1);
    SAY(good);
    SAY(pthread_join(id, &result));
    SAY((intptr_t)result);
}

static inline int ready_bytes(int fd)
{
    int value = -1;

    return ioctl(fd, FIONREAD, &value) < 0 ? -1 : value;
}
