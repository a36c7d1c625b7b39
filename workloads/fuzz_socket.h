/* Random calls on sockets that have a chance: families and types that there are, addresses, and
 * messages with descriptors. */
#pragma once

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
        struct { /* struct sockaddr_nl */
            uint16_t family, padding;
            uint32_t port, groups;
        } kernel;
    } name;
    struct { /* struct nlmsghdr, and what begins most bodies and attributes */
        uint32_t bytes;
        uint16_t type, flags;
        uint32_t number, port;
        uint16_t body[24];
    } requests[3];
    struct mmsghdr message;
    struct iovec parts[4];
    _Alignas(8) char control[128]; /* struct cmsghdr and data */
};

static inline uint64_t make_name(struct fuzz *f, struct fuzz_socket *s)
{
    uint16_t port = htons((uint16_t)(20000 + below(f, SOCKET_PORTS)));

    memset(&s->name, 0, sizeof s->name);
    switch (below(f, 5)) {
    case 4:
        s->name.kernel.family = AF_NETLINK;
        s->name.kernel.port = (uint32_t)below(f, 3);
        return sizeof s->name.kernel;
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
    static const int families[] = {AF_UNIX, AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};
    static const int types[] = {SOCK_STREAM, SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};

    a[0] = (uint64_t)families[below(f, 5)];
    a[1] = a[0] == AF_NETLINK ? SOCK_RAW : (uint64_t)types[below(f, 4)];
    a[2] = below(f, 8) ? 0 : a[2];
}

/* Messages of NETLINK_ROUTE: RTM_GETLINK, ... with odd lengths. */
static inline uint64_t make_requests(struct fuzz *f, struct fuzz_socket *s)
{
    for (int i = 0; i < 3; i++) {
        s->requests[i].bytes =
            (uint32_t)(below(f, 4) ? sizeof s->requests[i] - below(f, 50) : argument(f));
        s->requests[i].type = (uint16_t)(below(f, 8) ? 16 + below(f, 24) : argument(f));
        s->requests[i].flags = (uint16_t)(below(f, 4) ? 1 + 0x300 * below(f, 2) : argument(f));
        for (int j = 0; j < 24; j++)
            s->requests[i].body[j] = (uint16_t)below(f, below(f, 2) ? 10 : 65536);
    }
    return sizeof s->requests - below(f, 64);
}

/* Gives a call on sockets good arguments, most of the time. */
static inline void tame_socket(struct fuzz *f, struct fuzz_socket *s, uint64_t number, uint64_t *a)
{
    static const int levels[] = {SOL_SOCKET, SOL_SOCKET,   IPPROTO_TCP,
                                 IPPROTO_IP, IPPROTO_IPV6, 270 /* SOL_NETLINK */};

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
        if (below(f, 4) == 0)
            a[3] = MSG_OOB | MSG_DONTWAIT;
        if (below(f, 3) == 0) {
            a[1] = (uint64_t)s->requests;
            a[2] = make_requests(f, s);
        }
        break;
    case __NR_recvfrom:
        a[4] = 0;
        if (below(f, 4) == 0)
            a[3] = MSG_DONTWAIT | (below(f, 2) ? MSG_OOB : 0) | (below(f, 2) ? MSG_PEEK : 0);
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
        a[1] = (uint64_t)levels[below(f, 6)];
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
