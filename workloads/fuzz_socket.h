/* Random calls on sockets that have a chance: families and types that there are, addresses, and
 * messages with descriptors. */
#ifndef WORKLOADS_FUZZ_SOCKET_H
#define WORKLOADS_FUZZ_SOCKET_H

#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

#include "workloads/fuzz.h"

#define SOCKET_PORTS 4 /* few: calls are to meet */

struct fuzz_socket {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_un local;
    } name;
    struct mmsghdr message;
    struct iovec parts[4];
    _Alignas(8) char control[128]; /* struct cmsghdr and data */
};

static inline uint64_t make_name(struct fuzz *f, struct fuzz_socket *s)
{
    uint16_t port = htons((uint16_t)(20000 + below(f, SOCKET_PORTS)));

    memset(&s->name, 0, sizeof s->name);
    switch (below(f, 4)) {
    case 0:
        s->name.v4.sin_family = AF_INET;
        s->name.v4.sin_port = port;
        s->name.v4.sin_addr.s_addr = htonl(below(f, 8) ? INADDR_LOOPBACK : (uint32_t)argument(f));
        return sizeof s->name.v4;
    case 1:
        s->name.v6.sin6_family = AF_INET6;
        s->name.v6.sin6_port = port;
        if (below(f, 2))
            s->name.v6.sin6_addr.s6_addr[15] = 1;
        return sizeof s->name.v6;
    case 2:
        s->name.any.sa_family = AF_UNSPEC;
        return sizeof s->name.v4;
    default:
        s->name.local.sun_family = AF_UNIX;
        s->name.local.sun_path[0] = below(f, 2) ? 0 : 's';
        s->name.local.sun_path[1] = (char)('a' + below(f, 4));
        return below(f, 8) ? offsetof(struct sockaddr_un, sun_path) + 3 : below(f, 130);
    }
}

static inline void make_message(struct fuzz *f, struct fuzz_socket *s)
{
    int fds[2] = {(int)below(f, 32), (int)below(f, 32)};
    socklen_t bytes = (socklen_t)make_name(f, s);
    struct cmsghdr *header = (struct cmsghdr *)s->control;

    for (int i = 0; i < 4; i++)
        s->parts[i] = (struct iovec){(void *)in_window(f), below(f, 3 * PAGE)};
    s->message.msg_hdr = (struct msghdr){.msg_name = below(f, 4) ? NULL : &s->name,
                                         .msg_namelen = bytes,
                                         .msg_iov = s->parts,
                                         .msg_iovlen = below(f, 5),
                                         .msg_control = below(f, 3) ? s->control : NULL,
                                         .msg_controllen = below(f, sizeof s->control + 1)};
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = below(f, 4) ? SCM_RIGHTS : (int)below(f, 4);
    header->cmsg_len =
        (socklen_t)(below(f, 4) ? CMSG_LEN(sizeof fds) : argument(f)); /* as wide as in musl */
    memcpy(CMSG_DATA(header), fds, sizeof fds);
}

static inline void make_kind(struct fuzz *f, uint64_t *a)
{
    static const int families[] = {AF_UNIX, AF_UNIX, AF_INET, AF_INET6};
    static const int types[] = {SOCK_STREAM, SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};

    a[0] = (uint64_t)families[below(f, 4)];
    a[1] = (uint64_t)types[below(f, 4)];
    a[2] = below(f, 8) ? 0 : a[2];
}

/* Gives a call on sockets good arguments, most of the time. */
static inline void tame_socket(struct fuzz *f, struct fuzz_socket *s, uint64_t number, uint64_t *a)
{
    static const int levels[] = {SOL_SOCKET, SOL_SOCKET, IPPROTO_TCP, IPPROTO_IP, IPPROTO_IPV6};

    if (!below(f, 8))
        return;
    switch (number) {
    case __NR_socket:
    case __NR_socketpair:
        make_kind(f, a);
        break;
    case __NR_bind:
    case __NR_connect:
        a[2] = make_name(f, s);
        a[1] = (uint64_t)&s->name;
        break;
    case __NR_sendto:
        a[5] = make_name(f, s);
        a[4] = below(f, 2) ? (uint64_t)&s->name : 0;
        a[2] %= 64 * PAGE;
        break;
    case __NR_recvfrom:
        a[4] = 0;
        break;
    case __NR_sendmsg:
    case __NR_recvmsg:
    case __NR_sendmmsg:
    case __NR_recvmmsg:
        make_message(f, s);
        a[1] = (uint64_t)&s->message;
        if (number == __NR_sendmmsg || number == __NR_recvmmsg)
            a[2] = below(f, 2);
        a[4] = 0;
        break;
    case __NR_getsockopt:
    case __NR_setsockopt:
        a[1] = (uint64_t)levels[below(f, 5)];
        a[2] = below(f, 64);
        break;
    }
}

/* Sockets never wait: for a program with one thread.  0: do not make this call. */
static inline int tame_socket_waits(uint64_t number, uint64_t *a)
{
    switch (number) {
    case __NR_socket:
    case __NR_socketpair:
        a[1] |= SOCK_NONBLOCK;
        return 1;
    case __NR_accept4:
        a[3] |= SOCK_NONBLOCK;
        return 1;
    case __NR_accept:
        return 0;
    default:
        return 1;
    }
}

#endif
