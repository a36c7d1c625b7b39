/* hops: what a byte there and back between two threads costs over a socket, and what a large
 * amount costs, in nanoseconds of the program's own clock (in virtual time: instructions).
 *
 * Prints "KIND there-and-back NANOSECONDS" and "KIND 64 KiB NANOSECONDS".
 */
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "workloads/now.h"

#define TIMES 1000
#define LARGE 65536

enum kind { UNIX, TCP, UDP };

static int ends[2];
static char buffer[LARGE], other[LARGE];

static struct sockaddr_in bound(int fd)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t bytes = sizeof name;

    if (bind(fd, (struct sockaddr *)&name, sizeof name) != 0 ||
        getsockname(fd, (struct sockaddr *)&name, &bytes) != 0)
        abort();
    return name;
}

static void connect_tcp(void)
{
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in name = bound(listener);

    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (listen(listener, 1) != 0 || connect(ends[0], (struct sockaddr *)&name, sizeof name) != 0 ||
        (ends[1] = accept(listener, NULL, NULL)) < 0)
        abort();
    close(listener);
}

static void connect_udp(void)
{
    struct sockaddr_in names[2];

    for (int i = 0; i < 2; i++) {
        ends[i] = socket(AF_INET, SOCK_DGRAM, 0);
        names[i] = bound(ends[i]);
    }
    for (int i = 0; i < 2; i++)
        if (connect(ends[i], (struct sockaddr *)&names[!i], sizeof *names) != 0)
            abort();
}

/* Sends each byte back, until an empty message or the end. */
static void *send_back(void *nothing)
{
    char byte;

    while (read(ends[1], &byte, 1) == 1)
        if (write(ends[1], &byte, 1) != 1)
            abort();
    return nothing;
}

static void hop(void)
{
    char byte = 1;

    if (write(ends[0], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1)
        abort();
}

static uint64_t each_hop(void)
{
    pthread_t id;
    uint64_t start = 0;

    if (pthread_create(&id, NULL, send_back, NULL) != 0)
        abort();
    for (int round = 0; round < 2; round++) { /* the second one counts */
        start = now_ns();
        for (int i = 0; i < TIMES; i++)
            hop();
    }
    start = now_ns() - start;
    if (send(ends[0], NULL, 0, 0) != 0) /* the end of datagrams, and nothing in a stream */
        abort();
    shutdown(ends[0], SHUT_WR);
    pthread_join(id, NULL);
    return start / TIMES;
}

/* What it costs to send 64 KiB and to receive them. */
static uint64_t each_large(void)
{
    uint64_t start = 0;

    for (int round = 0; round < 2; round++) {
        start = now_ns();
        for (int i = 0; i < 20; i++)
            if (send(ends[0], buffer, LARGE, 0) != LARGE ||
                recv(ends[1], other, LARGE, MSG_WAITALL) != LARGE)
                abort();
    }
    return (now_ns() - start) / 20;
}

int main(void)
{
    static const char *const names[] = {[UNIX] = "AF_UNIX", [TCP] = "TCP", [UDP] = "UDP"};

    for (enum kind kind = UNIX; kind <= UDP; kind++) {
        if (kind == UNIX && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
            return 1;
        if (kind == TCP)
            connect_tcp();
        if (kind == UDP)
            connect_udp();
        if (kind != UDP)
            printf("%s 64KiB %lu\n", names[kind], each_large());
        printf("%s there-and-back %lu\n", names[kind], each_hop());
        close(ends[0]);
        close(ends[1]);
    }
    return 0;
}
