/* getsockopt and setsockopt. */
#include "guest/socket/socket_option.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <stddef.h>
#include <string.h>
#include <sys/time.h>

#include "guest/socket/socket.h"
#include "guest/socket/socket_option_answer.h"
#include "guest/vm/uaccess.h"
#include "lib/array.h"

#define LARGE_BYTES                                                               \
    212992 /* /proc/sys/net/core/rmem_default, and the most that can be asked for \
            */
#define TCP_SEND_BYTES 16384 /* /proc/sys/net/ipv4/tcp_wmem, tcp_rmem */
#define TCP_RECEIVE_BYTES 131072
#define STREAM_BYTES 2626560u /* what Linux's tuning arrives at on a loopback */
#define SEND_LEAST 4608
#define RECEIVE_LEAST 2304

enum {
    FOR_TCP = 1,
    FOR_UDP = 2,
    FOR_INET = 3,
    FOR_UNIX = 4,
    FOR_NETLINK = 8,
    FOR_ALL = 15,
    FOR_V6 = 16
};

/* Numbers that are set and got as they are. */
struct option {
    int32_t level, name;
    uint32_t types; /* FOR_* */
    int32_t least, most; /* 0, 1: any number but 0 is 1 */
    int32_t first; /* its value at first */
    int32_t kept; /* index of socket_options.kept; -1: it has a name */
    uint32_t offset; /* of its name */
};

#define NAMED(field) -1, offsetof(struct socket_options, field)

static const struct option options[] = {
    {SOL_SOCKET, SO_REUSEADDR, FOR_ALL, 0, 1, 0, NAMED(reuse_address)},
    {SOL_SOCKET, SO_REUSEPORT, FOR_ALL, 0, 1, 0, NAMED(reuse_port)},
    {SOL_SOCKET, SO_BROADCAST, FOR_ALL, 0, 1, 0, NAMED(broadcast)},
    {SOL_SOCKET, SO_PASSCRED, FOR_UNIX, 0, 1, 0, NAMED(pass_credentials)},
    {SOL_SOCKET, SO_RCVLOWAT, FOR_ALL, 1, INT32_MAX, 1, NAMED(low_water)},
    {SOL_SOCKET, SO_KEEPALIVE, FOR_ALL, 0, 1, 0, 0, 0},
    {SOL_SOCKET, SO_PRIORITY, FOR_ALL, 0, 6, 0, 1, 0},
    {SOL_SOCKET, SO_OOBINLINE, FOR_ALL, 0, 1, 0, NAMED(urgent_inline)},
    {SOL_SOCKET, SO_DONTROUTE, FOR_ALL, 0, 1, 0, 3, 0},
    {IPPROTO_TCP, TCP_NODELAY, FOR_TCP, 0, 1, 0, 4, 0},
    {IPPROTO_TCP, TCP_CORK, FOR_TCP, 0, 1, 0, 5, 0},
    {IPPROTO_TCP, TCP_MAXSEG, FOR_TCP, 88, 32767, SOCKET_OPTION_SEGMENT, 6, 0},
    {IPPROTO_TCP, TCP_KEEPIDLE, FOR_TCP, 1, 32767, 7200, 7, 0},
    {IPPROTO_TCP, TCP_KEEPINTVL, FOR_TCP, 1, 32767, 75, 8, 0},
    {IPPROTO_TCP, TCP_KEEPCNT, FOR_TCP, 1, 127, 9, 9, 0},
    {IPPROTO_TCP, TCP_SYNCNT, FOR_TCP, 1, 127, 6, 10, 0},
    {IPPROTO_TCP, TCP_LINGER2, FOR_TCP, -1, INT32_MAX, 60, 11, 0},
    {IPPROTO_TCP, TCP_DEFER_ACCEPT, FOR_TCP, 0, INT32_MAX, 0, 12, 0},
    {IPPROTO_TCP, TCP_QUICKACK, FOR_TCP, 0, 1, 1, 13, 0},
    {IPPROTO_TCP, TCP_USER_TIMEOUT, FOR_TCP, 0, INT32_MAX, 0, 14, 0},
    {IPPROTO_TCP, TCP_FASTOPEN, FOR_TCP, 0, INT32_MAX, 0, 15, 0},
    {IPPROTO_TCP, TCP_FASTOPEN_CONNECT, FOR_TCP, 0, 1, 0, 16, 0},
    {IPPROTO_TCP, TCP_NOTSENT_LOWAT, FOR_TCP, INT32_MIN, INT32_MAX, -1, 17, 0},
    {IPPROTO_IP, IP_TOS, FOR_INET, 0, 255, 0, 19, 0},
    {IPPROTO_IP, IP_TTL, FOR_INET, 1, 255, 64, 20, 0},
    {IPPROTO_IP, IP_MTU_DISCOVER, FOR_INET, 0, 5, 1, 21, 0},
    {IPPROTO_IP, IP_RECVERR, FOR_INET, 0, 1, 0, 22, 0},
    {IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, FOR_INET, 0, 1, 0, 24, 0},
    {IPPROTO_IP, IP_MULTICAST_TTL, FOR_UDP, 0, 255, 1, 25, 0},
    {IPPROTO_IP, IP_MULTICAST_LOOP, FOR_UDP, 0, 1, 1, 26, 0},
    {IPPROTO_IPV6, IPV6_V6ONLY, FOR_INET | FOR_V6, 0, 1, 0, NAMED(only_v6)},
    {IPPROTO_IPV6, IPV6_TCLASS, FOR_INET | FOR_V6, 0, 255, 0, 19, 0},
    {IPPROTO_IPV6, IPV6_UNICAST_HOPS, FOR_INET | FOR_V6, 1, 255, 64, 20, 0},
    {IPPROTO_IPV6, IPV6_MTU_DISCOVER, FOR_INET | FOR_V6, 0, 5, 1, 21, 0},
    {IPPROTO_IPV6, IPV6_RECVERR, FOR_INET | FOR_V6, 0, 1, 0, 22, 0},
    {IPPROTO_IPV6, IPV6_MULTICAST_HOPS, FOR_UDP | FOR_V6, 0, 255, 1, 25, 0},
    {IPPROTO_IPV6, IPV6_MULTICAST_LOOP, FOR_UDP | FOR_V6, 0, 1, 1, 26, 0},
    {SOL_NETLINK, NETLINK_PKTINFO, FOR_NETLINK, 0, 1, 0, 27, 0},
    {SOL_NETLINK, NETLINK_BROADCAST_ERROR, FOR_NETLINK, 0, 1, 0, 28, 0},
    {SOL_NETLINK, NETLINK_NO_ENOBUFS, FOR_NETLINK, 0, 1, 0, 29, 0},
    {SOL_NETLINK, NETLINK_CAP_ACK, FOR_NETLINK, 0, 1, 0, NAMED(short_errors)},
    {SOL_NETLINK, NETLINK_EXT_ACK, FOR_NETLINK, 0, 1, 0, 30, 0},
    {SOL_NETLINK, NETLINK_GET_STRICT_CHK, FOR_NETLINK, 0, 1, 0, NAMED(strict)},
};

static int32_t *value_of(struct socket_options *o, const struct option *option)
{
    return option->kept >= 0 ? &o->kept[option->kept] : (int32_t *)((uint8_t *)o + option->offset);
}

void socket_option_start(struct socket_options *o, bool large)
{
    static struct socket_options first;
    static bool made;

    if (!made)
        for (size_t i = 0; i < ARRAY_COUNT(options); i++)
            *value_of(&first, &options[i]) = options[i].first;
    made = true;
    *o = first;
    o->send_bytes = large ? LARGE_BYTES : TCP_SEND_BYTES;
    o->receive_bytes = large ? LARGE_BYTES : TCP_RECEIVE_BYTES;
}

uint32_t socket_option_stream_bytes(const struct socket_options *from,
                                    const struct socket_options *to)
{
    return from->sized || to->sized ? (uint32_t)from->send_bytes + (uint32_t)to->receive_bytes
                                    : STREAM_BYTES;
}

static uint32_t type_of(const struct socket *s)
{
    if (s->domain == AF_NETLINK)
        return FOR_NETLINK;
    return socket_is_unix(s) ? FOR_UNIX : s->type == SOCK_DGRAM ? FOR_UDP : FOR_TCP;
}

static const struct option *find_option(const struct socket *s, uint32_t level, uint32_t name)
{
    for (size_t i = 0; i < ARRAY_COUNT(options); i++) {
        const struct option *o = &options[i];

        if ((uint32_t)o->level == level && (uint32_t)o->name == name && o->types & type_of(s) &&
            (!(o->types & FOR_V6) || s->domain == AF_INET6))
            return o;
    }
    return NULL;
}

/* ---- getting ---- */

int64_t socket_option_get(struct socket *s, uint32_t level, uint32_t name, uint64_t user,
                          uint64_t user_bytes)
{
    const struct option *option = find_option(s, level, name);
    struct socket_option_answer a = {.bytes = sizeof a.number};
    int32_t room;
    int error = 0;

    if (copy_from_user(&room, user_bytes, sizeof room) != 0)
        return -EFAULT;
    if (room < 0)
        return -EINVAL;
    if (option != NULL)
        a.number = *value_of(&s->options, option);
    else
        error = socket_option_answer(s, level, name, &a);
    if (error)
        return error;
    if ((uint32_t)room < a.bytes)
        a.bytes = (uint32_t)room;
    if (copy_to_user(user, &a.number, a.bytes) != 0)
        return -EFAULT;
    return copy_to_user(user_bytes, &a.bytes, sizeof a.bytes);
}

/* ---- setting ---- */

/* As on Linux, a buffer gets twice what was asked for. */
static int32_t buffer_bytes(int32_t asked, int32_t least)
{
    int32_t bytes = asked < 0 || asked > LARGE_BYTES ? LARGE_BYTES : asked;

    return bytes * 2 < least ? least : bytes * 2;
}

static int set_time(struct socket *s, bool sends, uint64_t user, int32_t bytes)
{
    struct timeval time;

    if (bytes < (int32_t)sizeof time)
        return -EINVAL;
    if (copy_from_user(&time, user, sizeof time) != 0)
        return -EFAULT;
    if (time.tv_usec < 0 || time.tv_usec >= 1000000)
        return -EDOM;
    if (time.tv_sec < 0)
        s->options.timeout_ns[sends] = 1; /* it does not wait */
    else if ((uint64_t)time.tv_sec < UINT64_MAX / SOCKET_OPTION_NS / 2)
        s->options.timeout_ns[sends] = (uint64_t)time.tv_sec * SOCKET_OPTION_NS +
                                       (uint64_t)time.tv_usec * SOCKET_OPTION_NS_PER_US;
    else
        s->options.timeout_ns[sends] = 0; /* as if there were none */
    return 0;
}

static int set_linger(struct socket *s, uint64_t user, int32_t bytes)
{
    int32_t linger[2];

    if (bytes < (int32_t)sizeof linger)
        return -EINVAL;
    if (copy_from_user(linger, user, sizeof linger) != 0)
        return -EFAULT;
    s->options.lingers = linger[0];
    s->options.linger_seconds = linger[1];
    return 0;
}

static int set_general(struct socket *s, uint32_t name, int32_t value, uint64_t user, int32_t bytes)
{
    switch (name) {
    case SO_SNDBUF:
        s->options.send_bytes = buffer_bytes(value, SEND_LEAST);
        s->options.sized = true;
        return 0;
    case SO_RCVBUF:
        s->options.receive_bytes = buffer_bytes(value, RECEIVE_LEAST);
        s->options.sized = true;
        return 0;
    case SO_LINGER:
        return set_linger(s, user, bytes);
    case SO_RCVTIMEO:
    case SO_SNDTIMEO:
        return set_time(s, name == SO_SNDTIMEO, user, bytes);
    case SO_SNDBUFFORCE:
    case SO_RCVBUFFORCE:
    case SO_MARK:
        return -EPERM;
    default:
        return -ENOPROTOOPT;
    }
}

/* Accepts the names of what Linux has anyway. */
static int set_congestion(uint64_t user, int32_t bytes)
{
    char name[SOCKET_OPTION_CONGESTION] = "";

    if (bytes < 1)
        return -EINVAL;
    if (copy_from_user(name, user,
                       (uint32_t)bytes < sizeof name - 1 ? (uint32_t)bytes : sizeof name - 1) != 0)
        return -EFAULT;
    return strcmp(name, "cubic") == 0 || strcmp(name, "reno") == 0 ? 0 : -ENOENT;
}

/* Groups may be joined: nothing is ever sent to them. */
static int set_netlink(uint32_t name, int32_t group)
{
    if (name == NETLINK_LISTEN_ALL_NSID)
        return -EPERM;
    if (name != NETLINK_ADD_MEMBERSHIP && name != NETLINK_DROP_MEMBERSHIP)
        return -ENOPROTOOPT;
    return group >= 1 && group <= RTNLGRP_MAX ? 0 : -EINVAL;
}

static int set_number(struct socket *s, const struct option *option, int32_t value)
{
    if (option->least == 0 && option->most == 1)
        value = value != 0;
    if (option->offset == offsetof(struct socket_options, low_water) && option->kept < 0 &&
        value <= 0)
        value = value ? INT32_MAX : 1;
    if (option->name == IPV6_V6ONLY && option->level == IPPROTO_IPV6 && s->inet.bound)
        return -EINVAL;
    if (value < option->least || value > option->most)
        return -EINVAL;
    *value_of(&s->options, option) = value;
    return 0;
}

int64_t socket_option_set(struct socket *s, uint32_t level, uint32_t name, uint64_t user,
                          int32_t bytes)
{
    const struct option *option = find_option(s, level, name);
    int32_t value = 0, wanted = sizeof value;

    if (bytes < 0)
        return -EINVAL;
    if (level != SOL_SOCKET && socket_is_unix(s))
        return -EOPNOTSUPP;
    if (level == IPPROTO_TCP && name == TCP_CONGESTION && s->type == SOCK_STREAM)
        return set_congestion(user, bytes);
    if (level == IPPROTO_IP && bytes >= 1 && bytes < 4)
        wanted = 1; /* options of IP may be one byte */
    if (bytes < wanted)
        return -EINVAL;
    if (copy_from_user(&value, user, (uint32_t)wanted) != 0)
        return -EFAULT;
    if (option != NULL)
        return set_number(s, option, value);
    if (s->domain == AF_NETLINK && level == SOL_NETLINK)
        return set_netlink(name, value);
    if (level == IPPROTO_IP && (name == IP_ADD_MEMBERSHIP || name == IP_DROP_MEMBERSHIP))
        return -ENODEV;
    return level == SOL_SOCKET ? set_general(s, name, value, user, bytes) : -ENOPROTOOPT;
}
