/* io_inet: TCP on the loopback, by IPv4 and IPv6; alone and between threads. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include "workloads/io.h"
#include "workloads/io_socket.h"

#define LARGE 4000000

static char buffer[LARGE];
static struct sockaddr_in at; /* of the listener */

static struct sockaddr_in v4(const char *text, int port)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

    inet_pton(AF_INET, text, &name.sin_addr);
    return name;
}

static int listen_at(const char *text, int backlog, int flags)
{
    struct sockaddr_in name = v4(text, 0);
    socklen_t bytes = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | flags, 0);

    if (bind(fd, (struct sockaddr *)&name, sizeof name) != 0 || listen(fd, backlog) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &bytes) != 0)
        abort();
    return fd;
}

static int connect_there(int fd, const char *text)
{
    struct sockaddr_in name = v4(text, ntohs(at.sin_port));

    return connect(fd, (struct sockaddr *)&name, sizeof name);
}

/* Says an address, with a port only if it is the listener's. */
static void say_name(const char *what, int fd, int (*get)(int, struct sockaddr *, socklen_t *))
{
    struct sockaddr_in name = {.sin_family = 0};
    socklen_t bytes = sizeof name;
    char text[32] = "";

    if (io_say(what, get(fd, (struct sockaddr *)&name, &bytes)) < 0)
        return;
    inet_ntop(AF_INET, &name.sin_addr, text, sizeof text);
    printf("  %s, %u bytes, port %s\n", text, bytes,
           !name.sin_port                 ? "none"
           : name.sin_port == at.sin_port ? "of the listener"
                                          : "of its own");
}

static void make_pair(int pair[2])
{
    int listener = listen_at("127.0.0.1", 1, 0);

    pair[0] = socket(AF_INET, SOCK_STREAM, 0);
    SAY(connect_there(pair[0], "127.0.0.1"));
    pair[1] = accept(listener, NULL, NULL);
    close(listener);
}

static void errors(void)
{
    struct sockaddr_in name = v4("127.0.0.1", 0), elsewhere = v4("192.0.2.1", 80);
    int a = socket(AF_INET, SOCK_STREAM, 0), b = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP), l;

    SAY(socket(AF_INET, SOCK_STREAM, IPPROTO_UDP));
    SAY(socket(AF_INET, SOCK_SEQPACKET, 0));
    SAY(socketpair(AF_INET, SOCK_STREAM, 0, (int[2]){0, 0}));
    SAY(readiness(a));
    SAY(send(a, "x", 1, MSG_NOSIGNAL));
    SAY(recv(a, buffer, 1, 0));
    SAY(shutdown(a, SHUT_WR));
    SAY(accept(a, NULL, NULL));
    say_name("getsockname", a, getsockname);
    say_name("getpeername", a, getpeername);
    SAY(bind(a, (struct sockaddr *)&name, 8));
    SAY(bind(a, (struct sockaddr *)&elsewhere, sizeof elsewhere));
    name.sin_family = AF_UNIX;
    SAY(bind(a, (struct sockaddr *)&name, sizeof name));
    SAY(connect(a, (struct sockaddr *)&name, sizeof name));
    l = listen_at("127.0.0.1", 5, 0);
    SAY(bind(a, (struct sockaddr *)&at, sizeof at));
    SAY(setsockopt(a, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)));
    SAY(bind(a, (struct sockaddr *)&at, sizeof at));
    SAY(bind(l, (struct sockaddr *)&at, sizeof at));
    SAY(connect_there(l, "127.0.0.1"));
    SAY(close(l));
    SAY(connect_there(a, "127.0.0.1"));
    SAY(number(a, SOL_SOCKET, SO_ERROR));
    SAY(bind(b, (struct sockaddr *)&at, sizeof at));
    SAY(bind(b, (struct sockaddr *)&at, sizeof at));
    close(a), close(b);
    a = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    SAY(connect_there(a, "127.0.0.1"));
    SAY(readiness(a));
    SAY(number(a, SOL_SOCKET, SO_ERROR));
    SAY(number(a, SOL_SOCKET, SO_ERROR));
    close(a);
}

static void connecting(void)
{
    int l = listen_at("0.0.0.0", 3, SOCK_NONBLOCK), a = socket(AF_INET, SOCK_STREAM, 0), c;
    int b = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    struct linger now = {1, 0};
    struct sockaddr_in from;
    socklen_t bytes = sizeof from;

    SAY(readiness(l));
    SAY(accept(l, NULL, NULL));
    SAY(connect_there(a, "127.0.0.2"));
    SAY(connect_there(a, "127.0.0.2"));
    SAY(connect_there(b, "0.0.0.0"));
    SAY(readiness(b));
    SAY(connect_there(b, "0.0.0.0"));
    SAY(connect_there(b, "0.0.0.0"));
    SAY(readiness(l));
    say_name("getsockname", l, getsockname);
    say_name("getsockname", a, getsockname);
    say_name("getpeername", a, getpeername);
    say_name("getpeername", b, getpeername);
    c = accept(l, (struct sockaddr *)&from, &bytes);
    SAY(bytes);
    say_name("getsockname", c, getsockname);
    say_name("getpeername", c, getpeername);
    SAY(send(a, "from a", 6, 0));
    SAY(recv(c, buffer, 100, 0));
    SAY(fcntl(c, F_GETFL));
    int gone = socket(AF_INET, SOCK_STREAM, 0);
    SAY(connect_there(gone, "127.0.0.1"));
    SAY(setsockopt(gone, SOL_SOCKET, SO_LINGER, &now, sizeof now));
    close(gone);
    close(accept(l, NULL, NULL)); /* of b */
    bytes = sizeof from;
    gone = accept(l, (struct sockaddr *)&from, &bytes);
    SAY(gone >= 0 && bytes == sizeof from);
    say_name("getpeername", gone, getpeername);
    SAY(recv(gone, buffer, 100, MSG_ERRQUEUE));
    SAY(recv(gone, buffer, 100, 0));
    close(gone);
    SAY(shutdown(l, SHUT_RD));
    SAY(accept(l, NULL, NULL));
    SAY(number(l, SOL_SOCKET, SO_ACCEPTCONN));
    SAY(recv(b, buffer, 1, 0));
    close(a), close(b), close(c), close(l);
}

static void ends(void)
{
    struct linger now = {1, 0};
    int pair[2];

    make_pair(pair);
    SAY(readiness(pair[0]));
    SAY(send(pair[0], "0123456789", 10, 0));
    SAY(ready_bytes(pair[1]));
    SAY(recv(pair[1], buffer, 4, MSG_PEEK));
    SAY(recv(pair[1], buffer, 4, MSG_TRUNC));
    SAY(recv(pair[1], buffer, 100, MSG_DONTWAIT));
    SAY(recv(pair[1], buffer, 100, MSG_DONTWAIT));
    SAY(recv(pair[1], buffer, 0, MSG_DONTWAIT));
    SAY(shutdown(pair[0], SHUT_WR));
    SAY(send(pair[0], "x", 1, MSG_NOSIGNAL));
    SAY(readiness(pair[0]));
    SAY(readiness(pair[1]));
    SAY(recv(pair[1], buffer, 100, 0));
    SAY(send(pair[1], "half", 4, 0));
    SAY(recv(pair[0], buffer, 100, 0));
    SAY(shutdown(pair[1], SHUT_WR));
    SAY(readiness(pair[0]));
    SAY(readiness(pair[1]));
    close(pair[0]), close(pair[1]);
    make_pair(pair);
    SAY(send(pair[0], "unread", 6, 0));
    SAY(close(pair[1]));
    SAY(readiness(pair[0]));
    SAY(recv(pair[0], buffer, 100, 0));
    SAY(recv(pair[0], buffer, 100, 0));
    SAY(send(pair[0], "x", 1, MSG_NOSIGNAL));
    close(pair[0]);
    make_pair(pair);
    SAY(close(pair[1]));
    SAY(readiness(pair[0]));
    SAY(send(pair[0], "lost", 4, MSG_NOSIGNAL));
    SAY(readiness(pair[0]));
    SAY(send(pair[0], "x", 1, MSG_NOSIGNAL));
    SAY(recv(pair[0], buffer, 100, 0));
    close(pair[0]);
    make_pair(pair);
    SAY(setsockopt(pair[1], SOL_SOCKET, SO_LINGER, &now, sizeof now));
    SAY(close(pair[1]));
    SAY(readiness(pair[0]));
    SAY(send(pair[0], "x", 1, MSG_NOSIGNAL));
    SAY(send(pair[0], "x", 1, MSG_NOSIGNAL));
    close(pair[0]);
}

static void options(void)
{
    int a = socket(AF_INET, SOCK_STREAM, 0), pair[2];
    struct tcp_info info = {0};
    struct linger linger = {1, 7};
    socklen_t bytes = sizeof info;
    char text[16] = "";

    SAY(number(a, SOL_SOCKET, SO_TYPE));
    SAY(number(a, SOL_SOCKET, SO_DOMAIN));
    SAY(number(a, SOL_SOCKET, SO_PROTOCOL));
    SAY(number(a, IPPROTO_TCP, TCP_NODELAY));
    SAY(setsockopt(a, IPPROTO_TCP, TCP_NODELAY, &(int){5}, sizeof(int)));
    SAY(number(a, IPPROTO_TCP, TCP_NODELAY));
    SAY(setsockopt(a, IPPROTO_TCP, TCP_KEEPIDLE, &(int){33}, sizeof(int)));
    SAY(number(a, IPPROTO_TCP, TCP_KEEPIDLE));
    SAY(setsockopt(a, IPPROTO_TCP, TCP_KEEPCNT, &(int){0}, sizeof(int)));
    SAY(setsockopt(a, SOL_SOCKET, SO_RCVBUF, &(int){20000}, sizeof(int)));
    SAY(number(a, SOL_SOCKET, SO_RCVBUF));
    SAY(setsockopt(a, SOL_SOCKET, SO_LINGER, &linger, sizeof linger));
    linger.l_linger = 0;
    bytes = sizeof linger;
    SAY(getsockopt(a, SOL_SOCKET, SO_LINGER, &linger, &bytes));
    SAY(linger.l_linger);
    SAY(setsockopt(a, IPPROTO_IP, IP_TOS, &(int){16}, sizeof(int)));
    SAY(number(a, IPPROTO_IP, IP_TOS));
    SAY(number(a, IPPROTO_IPV6, IPV6_V6ONLY));
    SAY(setsockopt(a, IPPROTO_TCP, TCP_CONGESTION, "nothing", 7));
    bytes = sizeof text;
    SAY(getsockopt(a, IPPROTO_TCP, TCP_CONGESTION, text, &bytes));
    SAY(bytes);
    close(a);
    make_pair(pair);
    bytes = sizeof info;
    SAY(getsockopt(pair[0], IPPROTO_TCP, TCP_INFO, &info, &bytes));
    SAY(info.tcpi_state);
    close(pair[0]), close(pair[1]);
}

static void sharing(void)
{
    struct sockaddr_in name;
    int listeners[2], fd, count[2] = {0, 0}, all[12];

    for (int i = 0; i < 2; i++) {
        name = i ? at : v4("127.0.0.1", 0);
        listeners[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        SAY(setsockopt(listeners[i], SOL_SOCKET, SO_REUSEPORT, &(int){1}, sizeof(int)));
        SAY(bind(listeners[i], (struct sockaddr *)&name, sizeof name));
        SAY(listen(listeners[i], 20));
        socklen_t bytes = sizeof at;
        SAY(getsockname(listeners[i], (struct sockaddr *)&at, &bytes));
    }
    for (int i = 0; i < 12; i++) {
        all[i] = socket(AF_INET, SOCK_STREAM, 0);
        if (connect_there(all[i], "127.0.0.1") != 0)
            abort();
    }
    for (int i = 0; i < 2; i++)
        while ((fd = accept(listeners[i], NULL, NULL)) >= 0) {
            count[i]++;
            close(fd);
        }
    SAY(count[0] + count[1]);
    for (int i = 0; i < 12; i++)
        close(all[i]);
    close(listeners[0]), close(listeners[1]);
}

/* ---- between threads ---- */

static void between_threads(void)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET};
    int watch = epoll_create1(0), file = open("contents", O_RDWR | O_CREAT | O_TRUNC, 0600);
    int pair[2];
    off_t offset = 1;

    make_pair(pair);
    SAY(epoll_ctl(watch, EPOLL_CTL_ADD, pair[0], &event));
    exchange(pair, watch, buffer, LARGE);
    SAY(write(file, "0123456789", 10));
    SAY(sendfile(pair[1], file, &offset, 100));
    SAY(offset);
    SAY(recv(pair[0], buffer, 100, 0));
    SAY(epoll_wait(watch, &event, 1, 0));
    SAY(epoll_wait(watch, &event, 1, 0));
    SAY(close(pair[1]));
    SAY(epoll_wait(watch, &event, 1, -1));
    SAY(event.events);
    close(pair[0]), close(watch), close(file);
    unlink("contents");
}

int main(int argc, char **argv)
{
    io_quietly();
    signal(SIGPIPE, SIG_IGN);
    errors();
    connecting();
    ends();
    options();
    sharing();
    if (argc > 1 && strcmp(argv[1], "threads") == 0)
        between_threads();
    return 0;
}
