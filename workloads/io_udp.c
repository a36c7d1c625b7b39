/* io_udp: UDP, IPv6, interfaces, many messages in one call; alone and between threads. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "workloads/io.h"
#include "workloads/io_socket.h"

static char buffer[70000];

union name {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

static union name name_of(int family, const char *text, int port)
{
    union name n = {.any = {.sa_family = (sa_family_t)family}};

    n.v4.sin_port = htons((uint16_t)port); /* in the same place in both */
    inet_pton(family, text, family == AF_INET ? (void *)&n.v4.sin_addr : (void *)&n.v6.sin6_addr);
    return n;
}

static socklen_t bytes_of(const union name *n)
{
    return n->any.sa_family == AF_INET ? sizeof n->v4 : sizeof n->v6;
}

static int port_of(int fd)
{
    union name n;
    socklen_t bytes = sizeof n;

    return getsockname(fd, &n.any, &bytes) == 0 ? ntohs(n.v4.sin_port) : -1;
}

static void say_name(const char *what, const union name *n, socklen_t bytes)
{
    char text[64] = "";

    if (n->any.sa_family == AF_INET || n->any.sa_family == AF_INET6)
        inet_ntop(n->any.sa_family,
                  n->any.sa_family == AF_INET ? (const void *)&n->v4.sin_addr
                                              : (const void *)&n->v6.sin6_addr,
                  text, sizeof text);
    printf("  %s: %s, %u bytes\n", what, text, bytes);
}

static void say_own(const char *what, int fd, int (*get)(int, struct sockaddr *, socklen_t *))
{
    union name n = {.any = {0}};
    socklen_t bytes = sizeof n;

    if (io_say(what, get(fd, &n.any, &bytes)) == 0)
        say_name("address", &n, bytes);
}

static int bound(int family, const char *text, int port, int only_v6)
{
    union name n = name_of(family, text, port);
    int fd = socket(family, SOCK_DGRAM | SOCK_NONBLOCK, 0);

    if (only_v6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only_v6, sizeof only_v6);
    return bind(fd, &n.any, bytes_of(&n)) == 0 ? fd : -1;
}

static long send_to(int fd, const char *bytes, size_t count, const char *text, int port)
{
    union name n = name_of(strchr(text, ':') ? AF_INET6 : AF_INET, text, port);

    return sendto(fd, bytes, count, 0, &n.any, bytes_of(&n));
}

static int connect_to(int fd, const char *text, int port)
{
    union name n = name_of(strchr(text, ':') ? AF_INET6 : AF_INET, text, port);

    return connect(fd, &n.any, bytes_of(&n));
}

static void receive(const char *what, int fd, size_t room, int flags)
{
    union name n = {.any = {0}};
    socklen_t bytes = sizeof n;

    if (io_say(what, recvfrom(fd, buffer, room, flags, &n.any, &bytes)) >= 0)
        say_name("from", &n, bytes);
}

static void unconnected(int a, int port, int b)
{
    int e = socket(AF_INET, SOCK_DGRAM, 0);

    SAY(readiness(b));
    SAY(send(b, "x", 1, 0));
    SAY(recv(b, buffer, 1, 0));
    SAY(shutdown(e, SHUT_RDWR));
    SAY(send_to(e, "x", 1, "127.0.0.1", port));
    SAY(readiness(e));
    SAY(listen(b, 1));
    SAY(accept(b, NULL, NULL));
    SAY(send_to(b, "x", 1, "127.0.0.1", 0));
    SAY(send_to(b, "x", 1, "255.255.255.255", 9));
    SAY(send_to(b, buffer, 65507, "127.0.0.1", port));
    SAY(send_to(b, buffer, 65508, "127.0.0.1", port));
    SAY(send_to(b, "small", 5, "127.0.0.1", port));
    SAY(ready_bytes(a));
    receive("large", a, 100, 0);
    receive("small", a, 3, MSG_PEEK | MSG_TRUNC);
    receive("small", a, 100, 0);
    SAY(port_of(b) > 0);
    say_own("getsockname", b, getsockname);
    say_own("getpeername", b, getpeername);
    close(e);
}

/* b is connected to c; a is not connected. */
static void connected(int a, int port, int b, int c)
{
    const struct sockaddr none = {.sa_family = AF_UNSPEC};

    SAY(connect_to(b, "127.0.0.1", port_of(c)));
    say_own("getsockname", b, getsockname);
    say_own("getpeername", b, getpeername);
    SAY(send(b, "to c", 4, 0));
    SAY(send(b, "", 0, 0));
    receive("to c", c, 100, 0);
    SAY(readiness(c));
    receive("empty", c, 100, 0);
    SAY(send_to(a, "not from c", 10, "127.0.0.1", port_of(b)));
    receive("connected", b, 100, 0);
    SAY(send_to(c, "from c", 6, "127.0.0.1", port_of(b)));
    receive("connected", b, 100, 0);
    SAY(send_to(b, "elsewhere", 9, "127.0.0.1", port));
    receive("elsewhere", a, 100, 0);
    SAY(close(c));
    SAY(send(b, "refused", 7, 0));
    SAY(readiness(b));
    SAY(send(b, "refused", 7, 0));
    SAY(send(b, "refused", 7, 0));
    SAY(recv(b, buffer, 100, 0));
    SAY(recv(b, buffer, 100, 0));
    SAY(connect(b, &none, sizeof none));
    SAY(send(b, "x", 1, 0));
    SAY(send_to(b, "x", 1, "127.0.0.1", 1));
    SAY(recv(b, buffer, 100, 0));
}

static void datagrams(void)
{
    int a = bound(AF_INET, "127.0.0.1", 0, 0), b = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    int port = port_of(a), count = 0;

    unconnected(a, port, b);
    connected(a, port, b, bound(AF_INET, "0.0.0.0", 0, 0));
    SAY(bound(AF_INET, "127.0.0.1", port, 0));
    SAY(bound(AF_INET, "0.0.0.0", port, 0));
    SAY(setsockopt(a, SOL_SOCKET, SO_RCVBUF, &(int){4000}, sizeof(int)));
    for (int i = 0; i < 100; i++)
        if (send_to(b, buffer, 1000, "127.0.0.1", port) != 1000)
            abort();
    while (recv(a, buffer, sizeof buffer, 0) == 1000)
        count++;
    SAY(count > 0 && count < 20);
    close(a), close(b);
}

static void version6(void)
{
    int a = bound(AF_INET6, "::", 0, 0), b = socket(AF_INET, SOCK_DGRAM, 0), port = port_of(a);
    int c = socket(AF_INET6, SOCK_DGRAM, 0), d = bound(AF_INET6, "::", 0, 1);
    int stream = socket(AF_INET6, SOCK_STREAM, 0), other = socket(AF_INET, SOCK_STREAM, 0), end;
    union name n = name_of(AF_INET6, "::", 0);

    SAY(number(a, IPPROTO_IPV6, IPV6_V6ONLY));
    SAY(send_to(b, "four", 4, "127.0.0.1", port));
    receive("by version 4", a, 100, 0);
    SAY(send_to(c, "six", 3, "::1", port));
    receive("by version 6", a, 100, 0);
    SAY(send_to(a, "back", 4, "::ffff:127.0.0.1", port_of(b)));
    receive("mapped", b, 100, 0);
    SAY(send_to(b, "lost", 4, "127.0.0.1", port_of(d)));
    receive("only version 6", d, 100, 0);
    SAY(send_to(d, "x", 1, "::ffff:127.0.0.1", port));
    int v4 = bound(AF_INET, "127.0.0.1", port_of(d), 0);
    SAY(v4 >= 0);
    SAY(bound(AF_INET, "127.0.0.1", port, 0));
    SAY(bound(AF_INET6, "2001:db8::1", 0, 0));
    say_own("getsockname", c, getsockname);
    SAY(bind(stream, &n.any, 8));
    SAY(bind(stream, &n.any, sizeof n.v6));
    SAY(setsockopt(stream, IPPROTO_IPV6, IPV6_V6ONLY, &(int){1}, sizeof(int)));
    SAY(listen(stream, 1));
    SAY(connect_to(other, "127.0.0.1", port_of(stream)));
    end = accept(stream, NULL, NULL);
    say_own("getsockname", end, getsockname);
    say_own("getpeername", end, getpeername);
    close(a), close(b), close(c), close(d), close(v4), close(stream), close(other), close(end);
}

static void many(void)
{
    int a = bound(AF_INET, "127.0.0.1", 0, 0), b = socket(AF_INET, SOCK_DGRAM, 0);
    struct iovec parts[4] = {{"one", 3}, {"second", 6}, {buffer, 4}, {buffer + 10, 100}};
    struct mmsghdr m[5];
    struct timespec soon = {0, 1000};
    union name from;

    memset(m, 0, sizeof m);
    for (int i = 0; i < 2; i++)
        m[i].msg_hdr = (struct msghdr){.msg_iov = &parts[i], .msg_iovlen = 1};
    SAY(sendmmsg(b, m, 2, 0));
    SAY(connect_to(b, "127.0.0.1", port_of(a)));
    SAY(sendmmsg(b, m, 2, 0));
    SAY(m[0].msg_len);
    SAY(m[1].msg_len);
    for (int i = 0; i < 5; i++)
        m[i].msg_hdr = (struct msghdr){
            .msg_name = &from, .msg_namelen = sizeof from, .msg_iov = &parts[2], .msg_iovlen = 2};
    SAY(recvmmsg(a, m, 5, 0, NULL));
    SAY(m[0].msg_len);
    SAY(m[1].msg_len);
    SAY(m[1].msg_hdr.msg_namelen);
    SAY(memcmp(buffer, "seco", 4) == 0 && memcmp(buffer + 10, "nd", 2) == 0);
    SAY(recvmmsg(a, m, 5, MSG_WAITFORONE, &soon));
    m[0].msg_hdr.msg_iovlen = 2000;
    SAY(recvmmsg(a, m, 1, 0, NULL));
    SAY(sendmsg(b, &m[0].msg_hdr, 0));
    SAY(sendmsg(b, io_bad(), 0));
    close(a), close(b);
}

static void interfaces(void)
{
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct ifreq r = {.ifr_name = "lo"};

    SAY(ioctl(fd, SIOCGIFFLAGS, &r));
    SAY(r.ifr_flags & (IFF_UP | IFF_LOOPBACK | IFF_RUNNING));
    SAY(ioctl(fd, SIOCGIFINDEX, &r));
    SAY(r.ifr_ifindex);
    SAY(ioctl(fd, SIOCGIFADDR, &r));
    SAY(ntohl(((struct sockaddr_in *)&r.ifr_addr)->sin_addr.s_addr));
    SAY(ioctl(fd, SIOCGIFMTU, &r));
    SAY(r.ifr_mtu);
    r.ifr_ifindex = 1;
    memset(r.ifr_name, 0, sizeof r.ifr_name);
    SAY(ioctl(fd, SIOCGIFNAME, &r));
    SAY(strcmp(r.ifr_name, "lo"));
    strcpy(r.ifr_name, "none0");
    SAY(ioctl(fd, SIOCGIFFLAGS, &r));
    SAY(ioctl(fd, 0x1234, &r));
    close(fd);
}

static void *answer(void *argument)
{
    int fd = *(int *)argument;
    union name from;
    long count = 0;

    for (;;) {
        socklen_t bytes = sizeof from;
        long got = recvfrom(fd, buffer, sizeof buffer, 0, &from.any, &bytes);

        if (got <= 0)
            return (void *)count;
        count += sendto(fd, buffer, (size_t)got, 0, &from.any, bytes) == got;
    }
}

static void between_threads(void)
{
    int server = bound(AF_INET6, "::", 0, 0), client = socket(AF_INET, SOCK_DGRAM, 0), good = 0;
    struct pollfd p = {.fd = client, .events = POLLIN};
    struct timeval soon = {0, 5000};
    pthread_t id;
    void *result;
    int got;

    fcntl(server, F_SETFL, 0);
    SAY(connect_to(client, "127.0.0.1", port_of(server)));
    SAY(setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon));
    SAY(recv(client, &got, sizeof got, 0));
    SAY(poll(&p, 1, 5));
    SAY(pthread_create(&id, NULL, answer, &server));
    for (int i = 0; i < 200; i++)
        if (send(client, &i, sizeof i, 0) == sizeof i && poll(&p, 1, 10000) == 1 &&
            recv(client, &got, sizeof got, 0) == sizeof got)
            good += got == i;
    SAY(good);
    SAY(send(client, "", 0, 0));
    SAY(pthread_join(id, &result));
    SAY((long)result);
    close(server), close(client);
}

int main(int argc, char **argv)
{
    io_quietly();
    datagrams();
    version6();
    many();
    interfaces();
    if (argc > 1 && strcmp(argv[1], "threads") == 0)
        between_threads();
    return 0;
}
