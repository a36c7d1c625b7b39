/* What the io_* programs share: each prints what calls return, so that a native run and one in the
 * guest can be compared. */
#pragma once

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Prints a call's result, and errno where it failed. */
static inline long io_say(const char *what, long result)
{
    if (result < 0)
        printf("%s: %s\n", what, strerror(errno));
    else
        printf("%s: %ld\n", what, result);
    return result;
}

/* An address without memory, which the compiler does not know. */
static inline void *io_bad(void)
{
    void *volatile address = (void *)8;

    return address;
}

static inline int readiness(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN | POLLOUT | POLLRDHUP};

    return poll(&p, 1, 0) < 0 ? -1 : p.revents;
}

/* Nothing is written before the end. */
static inline void io_quietly(void)
{
    static char buffer[1 << 16];

    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
}

#define SAY(call) io_say(#call, (long)(call))
