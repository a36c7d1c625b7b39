/* io_unix: sockets of AF_UNIX by name: streams, packets, datagrams; alone and between threads. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "workloads/io.h"
#include "workloads/io_socket.h"

#define LARGE 500000

static char buffer[LARGE];

static socklen_t name_of(struct sockaddr_un *name, const char *path)
{
    *name = (struct sockaddr_un){.sun_family = AF_UNIX};
    strcpy(name->sun_path + (path[0] == '@'), path + (path[0] == '@'));
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path) + (path[0] != '@'));
}

static int bind_to(int fd, const char *path)
{
    struct sockaddr_un name;
    socklen_t bytes = name_of(&name, path);

    return bind(fd, (struct sockaddr *)&name, bytes);
}

static int connect_to(int fd, const char *path)
{
    struct sockaddr_un name;
    socklen_t bytes = name_of(&name, path);

    return connect(fd, (struct sockaddr *)&name, bytes);
}

static long send_to(int fd, const char *text, const char *path, int flags)
{
    struct sockaddr_un name;
    socklen_t bytes = name_of(&name, path);

    return sendto(fd, text, strlen(text), flags, (struct sockaddr *)&name, bytes);
}

static void say_name(const char *what, int fd, int (*get)(int, struct sockaddr *, socklen_t *))
{
    struct sockaddr_un name = {.sun_family = 0};
    socklen_t bytes = sizeof name;

    io_say(what, get(fd, (struct sockaddr *)&name, &bytes));
    printf("  family %d, %u bytes, '%s' '%s'\n", name.sun_family, bytes, name.sun_path,
           bytes > 3 && !name.sun_path[0] ? name.sun_path + 1 : "");
}

static void names(void)
{
    int a = socket(AF_UNIX, SOCK_STREAM, 0), b = socket(AF_UNIX, SOCK_STREAM, 0);
    int c = socket(AF_UNIX, SOCK_DGRAM, 0), file = open("plain", O_CREAT | O_RDWR, 0600);
    struct stat s;

    umask(022);
    SAY(connect_to(b, "absent"));
    SAY(connect_to(b, "plain"));
    SAY(connect_to(b, "plain/below"));
    SAY(bind_to(a, "absent/name"));
    SAY(bind_to(a, "name"));
    SAY(bind_to(a, "other"));
    SAY(bind_to(b, "name"));
    SAY(bind_to(b, "plain"));
    SAY(stat("name", &s));
    SAY(s.st_mode);
    SAY(open("name", O_RDWR));
    say_name("getsockname", a, getsockname);
    say_name("getpeername", a, getpeername);
    SAY(connect_to(b, "name"));
    SAY(connect_to(c, "name"));
    SAY(listen(a, 1));
    SAY(listen(b, 1));
    SAY(listen(c, 1));
    SAY(accept(b, NULL, NULL));
    SAY(accept(c, NULL, NULL));
    SAY(accept(file, NULL, NULL));
    SAY(rename("name", "renamed"));
    SAY(connect_to(b, "name"));
    SAY(connect_to(b, "renamed"));
    SAY(connect_to(b, "renamed"));
    SAY(connect_to(a, "renamed"));
    say_name("getpeername", b, getpeername);
    say_name("getsockname", b, getsockname);
    SAY(close(a));
    close(b);
    b = socket(AF_UNIX, SOCK_STREAM, 0);
    SAY(connect_to(b, "renamed"));
    SAY(unlink("renamed"));
    close(b), close(c), close(file);
    unlink("plain");
}

/* Names that are no paths. */
static void other_names(void)
{
    int a = socket(AF_UNIX, SOCK_STREAM, 0), b = socket(AF_UNIX, SOCK_STREAM, 0);
    int c = socket(AF_UNIX, SOCK_DGRAM, 0);
    struct sockaddr_un name = {.sun_family = AF_UNIX};

    SAY(bind(b, (struct sockaddr *)&name, 1));
    SAY(bind(b, (struct sockaddr *)&name, sizeof name + 1));
    name.sun_family = AF_INET;
    SAY(bind(b, (struct sockaddr *)&name, sizeof name));
    SAY(bind(b, io_bad(), 20));
    SAY(bind_to(b, "@abstract"));
    SAY(bind_to(c, "@abstract"));
    SAY(bind_to(a, "@abstract"));
    SAY(connect_to(a, "@nobody"));
    say_name("getsockname", b, getsockname);
    name.sun_family = AF_UNIX;
    SAY(bind(a, (struct sockaddr *)&name, sizeof name.sun_family));
    socklen_t bytes = sizeof name;
    SAY(getsockname(a, (struct sockaddr *)&name, &bytes));
    SAY(bytes);
    SAY(socket(AF_UNIX, SOCK_STREAM, 7));
    SAY(socket(AF_UNIX, 9, 0));
    SAY(socket(AF_UNIX, 100, 0));
    SAY(socket(60, SOCK_STREAM, 0));
    close(a), close(b), close(c);
}

static void streams(void)
{
    int a = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), b[4], c;
    struct sockaddr_un from;
    socklen_t bytes = sizeof from;

    SAY(readiness(a));
    SAY(recv(a, buffer, 1, 0));
    SAY(send(a, "x", 1, MSG_NOSIGNAL));
    SAY(bind_to(a, "@server"));
    SAY(listen(a, 1));
    SAY(number(a, SOL_SOCKET, SO_ACCEPTCONN));
    SAY(readiness(a));
    SAY(accept4(a, NULL, NULL, 0));
    SAY(accept4(a, NULL, NULL, 1));
    for (int i = 0; i < 4; i++) {
        b[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        io_say("connect", connect_to(b[i], "@server"));
    }
    SAY(readiness(a));
    SAY(readiness(b[0]));
    SAY(readiness(b[3]));
    SAY(send(b[0], "early", 5, 0));
    SAY(bind_to(b[0], "@client"));
    c = accept4(a, (struct sockaddr *)&from, &bytes, SOCK_CLOEXEC);
    SAY(c >= 0);
    SAY(bytes);
    SAY(fcntl(c, F_GETFD));
    SAY(fcntl(c, F_GETFL));
    say_name("getsockname", c, getsockname);
    say_name("getpeername", c, getpeername);
    say_name("getpeername", b[0], getpeername);
    SAY(recv(c, buffer, 100, MSG_PEEK | MSG_DONTWAIT));
    SAY(recv(c, buffer, 2, MSG_DONTWAIT));
    SAY(readiness(c));
    SAY(shutdown(c, SHUT_WR));
    SAY(readiness(b[0]));
    SAY(close(c)); /* unread data */
    SAY(readiness(b[0]));
    SAY(number(b[0], SOL_SOCKET, SO_ERROR));
    SAY(recv(b[0], buffer, 1, 0));
    SAY(send(b[0], "x", 1, MSG_NOSIGNAL));
    SAY(close(a));
    SAY(readiness(b[1]));
    SAY(recv(b[1], buffer, 1, 0));
    SAY(recv(b[1], buffer, 1, 0));
    SAY(connect_to(b[2], "@server"));
    for (int i = 0; i < 4; i++)
        close(b[i]);
}

static void packets(void)
{
    int pair[2];
    struct iovec parts[3] = {{buffer, 3}, {buffer + 10, 0}, {buffer + 20, 4}};
    struct msghdr m = {.msg_iov = parts, .msg_iovlen = 3};

    SAY(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair));
    SAY(send(pair[0], "first", 5, MSG_EOR));
    SAY(send(pair[0], "second packet", 13, 0));
    SAY(write(pair[0], "", 0));
    SAY(ready_bytes(pair[1]));
    SAY(recv(pair[1], buffer, 3, MSG_PEEK));
    SAY(recv(pair[1], buffer, 3, 0));
    SAY(recvmsg(pair[1], &m, 0));
    SAY(m.msg_flags & MSG_TRUNC);
    SAY(memcmp(buffer, "sec", 3) == 0 && memcmp(buffer + 20, "ond ", 4) == 0);
    SAY(recv(pair[1], buffer, 100, 0));
    SAY(recv(pair[1], buffer, 100, 0));
    SAY(send(pair[0], buffer, LARGE, 0));
    SAY(number(pair[0], SOL_SOCKET, SO_TYPE));
    SAY(close(pair[0]));
    SAY(recv(pair[1], buffer, 100, 0));
    SAY(send(pair[1], "x", 1, MSG_NOSIGNAL));
    close(pair[1]);
}

static void datagrams(void)
{
    int a = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0), pair[2];
    int b = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0), c = socket(AF_UNIX, SOCK_DGRAM, 0);
    struct sockaddr_un from;
    socklen_t bytes = sizeof from;

    SAY(send(b, "x", 1, 0));
    SAY(send_to(b, "x", "@a", 0));
    SAY(bind_to(a, "@a"));
    SAY(bind_to(b, "@b"));
    SAY(send_to(b, "from b", "@a", 0));
    SAY(send_to(c, "from c", "@a", 0));
    SAY(ready_bytes(a));
    SAY(recvfrom(a, buffer, 4, MSG_TRUNC, (struct sockaddr *)&from, &bytes));
    SAY(bytes);
    SAY(from.sun_path[1]);
    bytes = sizeof from;
    SAY(recvfrom(a, buffer, 100, 0, (struct sockaddr *)&from, &bytes));
    SAY(bytes);
    SAY(recv(a, buffer, 100, 0));
    SAY(connect_to(a, "@b"));
    SAY(send(a, "to b", 4, 0));
    SAY(send_to(c, "x", "@a", 0));
    SAY(connect_to(c, "@a"));
    SAY(recv(b, buffer, 100, 0));
    SAY(close(b));
    SAY(send(a, "to b", 4, 0));
    SAY(send(a, "to b", 4, 0));
    SAY(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, pair));
    SAY(send(pair[0], "", 0, 0));
    SAY(readiness(pair[1]));
    SAY(recv(pair[1], buffer, 100, 0));
    SAY(send(pair[0], buffer, LARGE, 0));
    SAY(shutdown(pair[1], SHUT_RD));
    SAY(send(pair[0], "x", 1, 0));
    SAY(recv(pair[1], buffer, 100, 0));
    SAY(recv(pair[1], io_bad(), 100, 0));
    close(a), close(c), close(pair[0]), close(pair[1]);
}

static void limits(void)
{
    struct timeval time = {0, 20000};
    int pair[2];
    long sent, all = 0;

    SAY(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    SAY(setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time));
    SAY(setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time));
    SAY(recv(pair[0], buffer, 1, 0));
    while ((sent = send(pair[0], buffer, LARGE, 0)) > 0)
        all += sent;
    SAY(all >= 100000 && all < 1000000);
    SAY(sent);
    SAY(readiness(pair[0]) & POLLOUT);
    SAY(ready_bytes(pair[1]) == all);
    while (all > 0 && (sent = recv(pair[1], buffer, LARGE, MSG_DONTWAIT)) > 0)
        all -= sent;
    SAY(all);
    SAY(readiness(pair[0]) & POLLOUT);
    SAY(setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &(int){10000}, sizeof(int)));
    SAY(number(pair[0], SOL_SOCKET, SO_SNDBUF));
    SAY(setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &time, 3));
    time.tv_usec = 1000000;
    SAY(setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time));
    SAY(setsockopt(pair[0], SOL_SOCKET, 999, &(int){1}, sizeof(int)));
    SAY(setsockopt(pair[0], SOL_SOCKET, SO_KEEPALIVE, io_bad(), sizeof(int)));
    SAY(setsockopt(pair[0], 6, 1, &(int){1}, sizeof(int)));
    close(pair[0]), close(pair[1]);
}

/* ---- between threads ---- */

static void *serve(void *argument)
{
    int listener = *(int *)argument, fd, served = 0;
    char got[4096];
    long bytes;

    while ((fd = accept(listener, NULL, NULL)) >= 0) {
        while ((bytes = recv(fd, got, sizeof got, 0)) > 0)
            if (send(fd, got, (size_t)bytes, 0) != bytes)
                abort();
        served++;
        close(fd);
    }
    return (void *)(intptr_t)served;
}

static void *connect_and_ask(void *argument)
{
    long good = 0;

    for (int i = 0; i < 20; i++) {
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        char got[6] = "";

        if (connect_to(fd, argument) == 0 && send(fd, "hello", 5, 0) == 5 &&
            recv(fd, got, 5, MSG_WAITALL) == 5)
            good += strcmp(got, "hello") == 0;
        close(fd);
    }
    return (void *)good;
}

static void between_threads(void)
{
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    pthread_t server, clients[4];
    void *result;
    long good = 0;

    SAY(bind_to(listener, "server"));
    SAY(listen(listener, 0));
    SAY(pthread_create(&server, NULL, serve, &listener));
    for (int i = 0; i < 4; i++)
        pthread_create(&clients[i], NULL, connect_and_ask, "server");
    for (int i = 0; i < 4; i++) {
        pthread_join(clients[i], &result);
        good += (long)result;
    }
    SAY(good);
    SAY(shutdown(listener, SHUT_RDWR));
    pthread_join(server, &result);
    SAY((long)result);
    close(listener);
    unlink("server");
}

int main(int argc, char **argv)
{
    io_quietly();
    signal(SIGPIPE, SIG_IGN);
    names();
    other_names();
    streams();
    packets();
    datagrams();
    limits();
    if (argc > 1 && strcmp(argv[1], "threads") == 0)
        between_threads();
    return 0;
}
