/* io_socket: pairs of sockets, alone and between threads. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workloads/io.h"
#include "workloads/io_socket.h"

#define BYTES 300000

static char buffer[BYTES];
static int pair[2];

static long option(int name)
{
    return number(pair[0], SOL_SOCKET, name);
}

static void alone(void)
{
    struct sockaddr_storage name;
    socklen_t bytes = sizeof name;
    struct stat s;
    int here[2], left = -1;

    SAY(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair));
    SAY(fcntl(pair[0], F_GETFL));
    SAY(fcntl(pair[1], F_GETFD));
    SAY(fstat(pair[0], &s));
    SAY(s.st_mode);
    SAY(lseek(pair[0], 0, SEEK_CUR));
    SAY(readiness(pair[0]));
    SAY(read(pair[0], buffer, 1));
    SAY(write(pair[0], "0123456789", 10));
    SAY(ioctl(pair[1], FIONREAD, &left));
    SAY(left);
    SAY(readiness(pair[1]));
    SAY(recv(pair[1], buffer, 4, MSG_PEEK));
    SAY(recv(pair[1], buffer, 4, 0));
    SAY(buffer[0]);
    SAY(recv(pair[1], io_bad(), 4, 0));
    SAY(recvfrom(pair[1], buffer, 100, 0, (struct sockaddr *)&name, &bytes));
    SAY(bytes);
    SAY(recv(pair[1], buffer, 100, 0));
    SAY(send(pair[1], "back", 4, MSG_NOSIGNAL));
    SAY(option(SO_TYPE));
    SAY(option(SO_ERROR));
    SAY(option(SO_DOMAIN));
    SAY(option(SO_ACCEPTCONN));
    bytes = sizeof name;
    SAY(getpeername(pair[0], (struct sockaddr *)&name, &bytes));
    SAY(bytes);
    SAY(name.ss_family);
    SAY(shutdown(pair[1], 7));
    SAY(shutdown(pair[1], SHUT_WR));
    SAY(readiness(pair[0]));
    SAY(readiness(pair[1]));
    SAY(recv(pair[0], buffer, 100, MSG_WAITALL));
    SAY(recv(pair[0], buffer, 100, 0));
    SAY(send(pair[1], "no", 2, MSG_NOSIGNAL));
    SAY(send(pair[0], "yes", 3, 0));
    SAY(recv(pair[1], buffer, 100, 0));
    SAY(close(pair[1]));
    SAY(readiness(pair[0]));
    SAY(send(pair[0], "no", 2, MSG_NOSIGNAL));
    signal(SIGPIPE, SIG_IGN);
    SAY(write(pair[0], "no", 2));
    SAY(close(pair[0]));
    SAY(send(pair[0], "no", 2, 0));
    SAY(pipe(here));
    SAY(send(here[1], "no", 2, 0));
    SAY(socketpair(AF_UNIX, SOCK_STREAM, 9, pair));
    SAY(socketpair(AF_UNIX, SOCK_STREAM, 0, io_bad()));
    close(here[0]);
    close(here[1]);
}

static void between_threads(void)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP};
    int watch = epoll_create1(0);

    SAY(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    SAY(epoll_ctl(watch, EPOLL_CTL_ADD, pair[0], &event));
    exchange(pair, watch, buffer, BYTES);
    SAY(epoll_wait(watch, &event, 1, 0));
    SAY(close(pair[1]));
    SAY(epoll_wait(watch, &event, 1, -1));
    SAY(event.events);
    close(pair[0]);
    close(watch);
}

int main(int argc, char **argv)
{
    io_quietly();
    alone();
    if (argc > 1 && strcmp(argv[1], "threads") == 0)
        between_threads();
    return 0;
}
