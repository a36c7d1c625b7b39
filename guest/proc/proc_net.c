/* /proc/net: interfaces, their addresses and routes, and the sockets that there are. */
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

#include "guest/proc/proc.h"
#include "guest/socket/socket.h"
#include "guest/socket/socket_interface.h"
#include "guest/socket/socket_outside_state.h"
#include "guest/socket/socket_route_table.h"
#include "guest/thread/process.h"
#include "lib/array.h"
#include "lib/bytes.h"

/* Widths to which Linux fills its lines. */
#define TCP_WIDTH 149u
#define UDP_WIDTH 127u
#define ROUTE_WIDTH 127u

#define UNIX_LISTENS 0x10000u /* __SO_ACCEPTCON */

/* Ends a line that began at `start`. */
static void end_line(struct text *text, uint64_t start, uint32_t width)
{
    uint64_t used = text->used - start;

    text_add(text, "%*s\n", used < width ? (int)(width - used) : 0, "");
}

/* ---- interfaces ---- */

static void net_dev(const struct thread *, const struct inode *, struct text *text)
{
    const struct socket_interface *i;

    text_add(text, "Inter-|   Receive                                                |  Transmit\n"
                   " face |bytes    packets errs drop fifo frame compressed multicast|bytes    "
                   "packets errs drop fifo colls carrier compressed\n");
    for (uint32_t index = 1; (i = socket_interface_at(index)) != NULL; index++)
        text_add(text, "%6s: %7u %7u %4u %4u %4u %5u %10u %9u %8u %7u %4u %4u %4u %5u %7u %10u\n",
                 i->name, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u, 0u);
}

static void net_if_inet6(const struct thread *, const struct inode *, struct text *text)
{
    for (uint32_t i = 0; i < SOCKET_ROUTE_ADDRESSES; i++) {
        const struct socket_route_address *a = &socket_route_addresses[i];
        const struct socket_interface *interface = socket_interface_at(a->interface);

        if (a->family != AF_INET6 || interface == NULL)
            continue;
        for (uint32_t byte = 0; byte < sizeof a->bytes; byte++)
            text_add(text, "%02x", a->bytes[byte]);
        text_add(text, " %02x %02x %02x 80 %8s\n", a->interface, a->prefix,
                 a->interface == SOCKET_ROUTE_LO ? 0x10u : 0, interface->name);
    }
}

static void net_route(const struct thread *, const struct inode *, struct text *text)
{
    uint64_t start = text->used;

    text_add(text, "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow"
                   "\tIRTT");
    end_line(text, start, ROUTE_WIDTH);
    for (uint32_t i = 0; i < SOCKET_ROUTES; i++) {
        const struct socket_route *r = &socket_routes[i];
        const struct socket_interface *interface = socket_interface_at(r->interface);
        uint32_t mask = r->prefix ? __builtin_bswap32(UINT32_MAX << (32 - r->prefix)) : 0;

        if (r->family != AF_INET || r->table != RT_TABLE_MAIN || interface == NULL ||
            (r->user && !socket_outside.user))
            continue;
        start = text->used;
        text_add(text, "%s\t%08X\t%08X\t%04X\t0\t0\t0\t%08X\t0\t0\t0", interface->name,
                 bytes_load32(r->to), bytes_load32(r->gateway), r->gateway[0] ? 3u : 1u, mask);
        end_line(text, start, ROUTE_WIDTH);
    }
}

/* ---- sockets ---- */

/* Returns the state of TCP or UDP as Linux numbers it; 0: it is not shown. */
static uint32_t state_of(const struct socket *s)
{
    if (s->protocol == IPPROTO_UDP)
        return !s->inet.bound ? 0 : s->state == SOCKET_CONNECTED ? TCP_ESTABLISHED : TCP_CLOSE;
    switch (s->state) {
    case SOCKET_LISTENS:
        return TCP_LISTEN;
    case SOCKET_CONNECTING:
        return TCP_SYN_SENT;
    case SOCKET_CONNECTED:
        if (s->shut & SOCKET_SHUT_WRITE)
            return s->fin || s->peer->closed ? 0 : TCP_FIN_WAIT2;
        return s->fin ? TCP_CLOSE_WAIT : TCP_ESTABLISHED;
    default:
        return 0;
    }
}

/* The outside's end of a connection is no socket of this machine. */
static bool is_shown(const struct socket *s, uint32_t domain, uint32_t protocol)
{
    return s->domain == domain && s->protocol == protocol && !s->closed &&
           (!s->outside || s->outside == SOCKET_OUTSIDE_DATAGRAMS);
}

static uint64_t net_inode_number(const struct socket *s)
{
    return s->file != NULL ? FILES_NUMBERS + s->file->number : 0;
}

static void put_address(struct text *text, const struct socket_address *a, uint32_t domain)
{
    for (uint32_t at = domain == AF_INET ? 12 : 0; at < sizeof a->bytes; at += 4)
        text_add(text, "%08X", bytes_load32(a->bytes + at));
    text_add(text, ":%04X ", a->port);
}

static void put_inet(struct text *text, const struct socket *s, uint32_t line, uint32_t state)
{
    static const struct socket_address none;
    uint64_t start = text->used;
    bool tcp = s->protocol == IPPROTO_TCP, listens = s->state == SOCKET_LISTENS;
    bool named = s->state == SOCKET_CONNECTED || s->state == SOCKET_CONNECTING;

    text_add(text, tcp ? "%4u: " : "%5u: ", line);
    put_address(text, &s->inet.local, s->domain);
    put_address(text, named ? &s->inet.remote : &none, s->domain);
    text_add(text, "%02X 00000000:%08X 00:00000000 00000000 %5u        0 %lu %u %016x", state,
             listens ? s->accepted.length : s->in.bytes + s->fin, PROCESS_USER_ID,
             net_inode_number(s), s->references, 0u);
    text_add(text, tcp ? " 100 0 0 10 0" : " 0");
    end_line(text, start, tcp ? TCP_WIDTH : UDP_WIDTH);
}

/* Lists the sockets of a protocol, the oldest last. */
static void net_inet(struct text *text, uint32_t domain, uint32_t protocol, const char *head)
{
    uint32_t line = 0, state;
    uint64_t start = text->used;
    const struct socket *s = NULL;

    text_add(text, "%s", head);
    end_line(text, start, domain == AF_INET6 ? 0 : protocol == IPPROTO_TCP ? TCP_WIDTH : UDP_WIDTH);
    while ((s = socket_collect_next(s)) != NULL) {
        state = is_shown(s, domain, protocol) ? state_of(s) : 0;
        if (state)
            put_inet(text, s, line++, state);
    }
}

#define TAIL "st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"
#define V6 "                         "
#define V6_LAST "                        "

static void net_tcp(const struct thread *, const struct inode *, struct text *text)
{
    net_inet(text, AF_INET, IPPROTO_TCP, "  sl  local_address rem_address   " TAIL);
}

static void net_tcp6(const struct thread *, const struct inode *, struct text *text)
{
    net_inet(text, AF_INET6, IPPROTO_TCP, "  sl  local_address" V6 "remote_address" V6_LAST TAIL);
}

static void net_udp(const struct thread *, const struct inode *, struct text *text)
{
    net_inet(text, AF_INET, IPPROTO_UDP,
             "   sl  local_address rem_address   " TAIL " ref pointer drops");
}

static void net_udp6(const struct thread *, const struct inode *, struct text *text)
{
    net_inet(text, AF_INET6, IPPROTO_UDP,
             "  sl  local_address" V6 "remote_address" V6_LAST TAIL " ref pointer drops");
}

/* Adds a name as Linux shows it: NULs of abstract ones as @. */
static void put_name(struct text *text, const struct socket_unix *name)
{
    uint32_t bytes =
        name->name[0] ? (uint32_t)strnlen(name->name, name->name_bytes) : name->name_bytes;

    text_add(text, " ");
    for (uint32_t i = 0; i < bytes; i++)
        text_add(text, "%c", name->name[i] ? name->name[i] : '@');
}

static void net_unix(const struct thread *, const struct inode *, struct text *text)
{
    const struct socket *s = NULL;

    text_add(text, "Num       RefCount Protocol Flags    Type St Inode Path\n");
    while ((s = socket_collect_next(s)) != NULL) {
        uint32_t connected = s->state == SOCKET_CONNECTED;

        if (!socket_is_unix(s) || s->closed)
            continue;
        text_add(text, "%016x: %08X %08X %08X %04X %02X %5lu", 0u, s->references, 0u,
                 s->state == SOCKET_LISTENS ? UNIX_LISTENS : 0, s->type,
                 s->file == NULL ? 2
                 : connected     ? 3u
                                 : 1u,
                 net_inode_number(s));
        if (s->local.name_bytes)
            put_name(text, &s->local);
        text_add(text, "\n");
    }
}

static const struct proc_file files[] = {
    {.name = "/proc/net/dev", .generate = net_dev},
    {.name = "/proc/net/if_inet6", .generate = net_if_inet6},
    {.name = "/proc/net/route", .generate = net_route},
    {.name = "/proc/net/tcp", .generate = net_tcp},
    {.name = "/proc/net/tcp6", .generate = net_tcp6},
    {.name = "/proc/net/udp", .generate = net_udp},
    {.name = "/proc/net/udp6", .generate = net_udp6},
    {.name = "/proc/net/unix", .generate = net_unix},
};

const struct proc_files proc_net_files = {files, ARRAY_COUNT(files)};
