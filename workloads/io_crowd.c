/* io_crowd: too much of everything that sockets can have: descriptors, unread data, ports. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "workloads/io.h"
#include "workloads/io_socket.h"

#define ATTEMPTS 30000
#define FILES 1000
#define CLIENTS 60

static char buffer[1 << 16];
static struct sockaddr_in at = {.sin_family = AF_INET};

static int listener(int backlog)
{
    socklen_t bytes = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = 0;
    if (bind(fd, (struct sockaddr *)&at, sizeof at) != 0 || listen(fd, backlog) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &bytes) != 0)
        abort();
    return fd;
}

static void close_all(void)
{
    for (int fd = 3; fd < FILES; fd++)
        close(fd);
}

/* Each attempt makes a socket until there are no more descriptors. */
static void descriptors(void)
{
    static const int kinds[][2] = {{AF_INET, SOCK_STREAM},
                                   {AF_INET, SOCK_DGRAM},
                                   {AF_UNIX, SOCK_STREAM},
                                   {AF_UNIX, SOCK_DGRAM}};
    long made = 0, refused = 0;

    for (int i = 0; i < ATTEMPTS; i++)
        if (socket(kinds[i % 4][0], kinds[i % 4][1], 0) >= 0)
            made++;
        else
            refused += errno == EMFILE;
    SAY(made);
    SAY(refused);
    SAY(socketpair(AF_UNIX, SOCK_STREAM, 0, (int[2]){0, 0}));
    close_all();
    for (int i = 0; i < ATTEMPTS; i++)
        close(socket(kinds[i % 4][0], kinds[i % 4][1], 0));
    SAY(socket(AF_INET, SOCK_STREAM, 0));
    close_all();
}

/* Clients that never read, and a server that writes to all of them until it would wait. */
static void unread(void)
{
    int l = listener(CLIENTS), ends[CLIENTS], full = 0;
    long all = 0, sent;

    for (int i = 0; i < CLIENTS; i++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);

        if (connect(fd, (struct sockaddr *)&at, sizeof at) != 0)
            abort();
        ends[i] = accept4(l, NULL, NULL, SOCK_NONBLOCK);
        setsockopt(ends[i], SOL_SOCKET, SO_SNDBUF, &(int){20000}, sizeof(int));
    }
    for (int i = 0; i < CLIENTS; i++) {
        while ((sent = send(ends[i], buffer, sizeof buffer, MSG_NOSIGNAL)) > 0)
            all += sent;
        full += errno == EAGAIN || errno == ENOBUFS;
    }
    SAY(full);
    SAY(all > CLIENTS * 10000);
    SAY(readiness(ends[0]) & POLLOUT);
    close_all();
}

/* Clients that never read, and sockets whose buffers have no size of their own. */
static void unlimited(void)
{
    int l = listener(CLIENTS), full = 0;

    for (int i = 0; i < CLIENTS; i++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0), end;

        if (connect(fd, (struct sockaddr *)&at, sizeof at) != 0)
            abort();
        end = accept4(l, NULL, NULL, SOCK_NONBLOCK);
        for (int n = 0; n < 200; n++)
            if (send(end, buffer, sizeof buffer, MSG_NOSIGNAL) <= 0) {
                full += errno == EAGAIN || errno == ENOBUFS;
                break;
            }
    }
    SAY(full);
    close_all();
}

/* Datagrams without a receiver, of no bytes, and of many. */
static void lost(void)
{
    int a = socket(AF_INET, SOCK_DGRAM, 0), b = socket(AF_INET, SOCK_DGRAM, 0), pair[2];
    socklen_t bytes = sizeof at;
    long good = 0, count = 0;

    at.sin_port = 0;
    bind(a, (struct sockaddr *)&at, sizeof at);
    getsockname(a, (struct sockaddr *)&at, &bytes);
    for (int i = 0; i < ATTEMPTS; i++)
        good += sendto(b, buffer, i % 3 ? 0 : 9000, 0, (struct sockaddr *)&at, sizeof at) >= 0;
    SAY(good);
    SAY(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, pair));
    while (count < ATTEMPTS && send(pair[0], "", 0, 0) == 0)
        count++;
    SAY(count > 0 && count < ATTEMPTS);
    SAY(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair));
    for (count = 0; count < ATTEMPTS && send(pair[0], "", 0, 0) == 0;)
        count++;
    SAY(count > 0 && count < ATTEMPTS);
    close_all();
}

/* Connections one after the other: more than there are ports. */
static void ports(void)
{
    int l = listener(5);
    long good = 0;

    for (int i = 0; i < 2000; i++) {
        struct linger now = {1, 0};
        int fd = socket(AF_INET, SOCK_STREAM, 0);

        setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        good += connect(fd, (struct sockaddr *)&at, sizeof at) == 0;
        close(accept(l, NULL, NULL));
        close(fd);
    }
    SAY(good);
    int other = socket(AF_INET, SOCK_STREAM, 0);
    SAY(bind(other, (struct sockaddr *)&at, sizeof at));
    close_all();
}

int main(void)
{
    struct rlimit files = {FILES, FILES};

    setrlimit(RLIMIT_NOFILE, &files);
    io_quietly();
    close_all();
    descriptors();
    unread();
    unlimited();
    lost();
    ports();
    return 0;
}
