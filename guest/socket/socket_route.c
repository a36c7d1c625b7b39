/* Answers to NETLINK_ROUTE, from tables. */
#include "guest/socket/socket_route.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "guest/base/context.h"
#include "guest/socket/socket.h"
#include "guest/socket/socket_interface.h"
#include "guest/socket/socket_outside_state.h"
#include "guest/socket/socket_route_table.h"
#include "lib/array.h"

#define ANSWER_BYTES 4096u
#define KINDS 4u /* NEW, DEL, GET, SET: the lowest bits of a message's type */
#define KIND_GET 2u
#define PROTOCOL_LOOPBACK 1 /* IFAPROT_KERNEL_LO */
#define FOREVER UINT32_MAX

static uint32_t family_bytes(uint32_t family)
{
    return family == AF_INET ? 4 : 16;
}

/* ---- messages ---- */

/* A datagram that is being made.  The tables fit into one. */
static struct {
    _Alignas(8) uint8_t bytes[ANSWER_BYTES];
    uint32_t used;
    struct nlmsghdr *message; /* the last one */
} answer;

static void put_bytes(const void *from, uint32_t bytes)
{
    uint8_t *to = answer.bytes + answer.used;

    memset(to, 0, NLMSG_ALIGN(bytes));
    memcpy(to, from, bytes);
    answer.used += NLMSG_ALIGN(bytes);
    answer.message->nlmsg_len = (uint32_t)(to + NLMSG_ALIGN(bytes) - (uint8_t *)answer.message);
}

/* Begins a message that answers `to`. */
static void begin_message(const struct socket *s, const struct nlmsghdr *to, uint32_t type,
                          uint32_t flags, const void *body, uint32_t bytes)
{
    const struct nlmsghdr head = {.nlmsg_type = (uint16_t)type,
                                  .nlmsg_flags = (uint16_t)flags,
                                  .nlmsg_seq = to->nlmsg_seq,
                                  .nlmsg_pid = s->netlink.port};

    answer.message = (struct nlmsghdr *)(answer.bytes + answer.used);
    put_bytes(&head, sizeof head);
    put_bytes(body, bytes);
}

static void put_attribute(uint32_t type, const void *value, uint32_t bytes)
{
    const struct nlattr head = {.nla_len = (uint16_t)(sizeof head + bytes),
                                .nla_type = (uint16_t)type};

    put_bytes(&head, sizeof head);
    put_bytes(value, bytes);
}

static void put_number(uint32_t type, uint32_t value)
{
    put_attribute(type, &value, sizeof value);
}

static void put_byte(uint32_t type, uint8_t value)
{
    put_attribute(type, &value, sizeof value);
}

static void put_text(uint32_t type, const char *text)
{
    put_attribute(type, text, (uint32_t)strlen(text) + 1);
}

static void send_answer(struct socket *s)
{
    if (answer.used)
        socket_netlink_put(s, answer.bytes, answer.used);
    answer.used = 0;
}

/* ---- requests ---- */

struct request {
    struct socket *socket;
    const struct nlmsghdr *head;
    const void *body;
    uint32_t bytes; /* of the body */
    uint32_t flags; /* NLM_F_* of each part of a dump */
};

static uint32_t family_of(const struct request *r)
{
    return ((const struct rtgenmsg *)r->body)->rtgen_family;
}

/* Returns an attribute after a head of `head_bytes`, with at least `least` bytes; NULL: none. */
static const struct nlattr *find_attribute(const struct request *r, uint32_t head_bytes,
                                           uint32_t type, uint32_t least)
{
    uint32_t at = NLMSG_ALIGN(head_bytes);

    while (at + sizeof(struct nlattr) <= r->bytes) {
        const struct nlattr *a = (const void *)((const uint8_t *)r->body + at);

        if (a->nla_len < sizeof *a || a->nla_len > r->bytes - at)
            return NULL;
        if ((a->nla_type & NLA_TYPE_MASK) == type && a->nla_len >= sizeof *a + least)
            return a;
        at += NLMSG_ALIGN(a->nla_len);
    }
    return NULL;
}

/* ---- links ---- */

static void put_link(const struct request *r, uint32_t index)
{
    const struct socket_interface *i = socket_interface_at(index);
    const struct ifinfomsg body = {
        .ifi_type = i->type, .ifi_index = (int32_t)index, .ifi_flags = i->flags | IFF_LOWER_UP};
    const struct rtnl_link_stats64 counts = {0};
    const struct rtnl_link_stats short_counts = {0};
    const struct rtnl_link_ifmap map = {0};

    begin_message(r->socket, r->head, RTM_NEWLINK, r->flags, &body, sizeof body);
    put_text(IFLA_IFNAME, i->name);
    put_number(IFLA_TXQLEN, SOCKET_INTERFACE_QUEUE);
    put_byte(IFLA_OPERSTATE, (uint8_t)i->operation);
    put_byte(IFLA_LINKMODE, 0);
    put_number(IFLA_MTU, i->mtu);
    put_number(IFLA_MIN_MTU, i->mtu_least);
    put_number(IFLA_MAX_MTU, i->mtu_most);
    put_number(IFLA_GROUP, 0);
    put_number(IFLA_PROMISCUITY, 0);
    put_number(IFLA_NUM_TX_QUEUES, 1);
    put_number(IFLA_NUM_RX_QUEUES, 1);
    put_byte(IFLA_CARRIER, 1);
    put_text(IFLA_QDISC, i->queue);
    put_attribute(IFLA_MAP, &map, sizeof map);
    put_attribute(IFLA_ADDRESS, i->hardware, sizeof i->hardware);
    put_attribute(IFLA_BROADCAST, i->broadcast, sizeof i->broadcast);
    put_attribute(IFLA_STATS64, &counts, sizeof counts);
    put_attribute(IFLA_STATS, &short_counts, sizeof short_counts);
}

static int dump_links(struct request *r)
{
    if (r->bytes < sizeof(struct ifinfomsg) && r->socket->options.strict)
        return -EINVAL;
    for (uint32_t index = 1; socket_interface_at(index) != NULL; index++)
        put_link(r, index);
    send_answer(r->socket);
    return 0;
}

/* Answers for one interface, by its number or its name. */
static int get_link(struct request *r)
{
    const struct ifinfomsg *asked = r->body;
    const struct nlattr *name;
    uint32_t index;

    if (r->bytes < sizeof *asked)
        return -EINVAL;
    index = (uint32_t)asked->ifi_index;
    name = find_attribute(r, sizeof *asked, IFLA_IFNAME, 1);
    if (name == NULL)
        name = find_attribute(r, sizeof *asked, IFLA_ALT_IFNAME, 1);
    if (asked->ifi_index < 0 || (!index && name == NULL))
        return -EINVAL;
    if (!index)
        index = socket_interface_find((const char *)(name + 1), name->nla_len - sizeof *name);
    if (socket_interface_at(index) == NULL)
        return -ENODEV;
    put_link(r, index);
    send_answer(r->socket);
    return 0;
}

/* ---- addresses ---- */

static void put_route_address(const struct request *r, const struct socket_route_address *a)
{
    const struct ifaddrmsg body = {.ifa_family = a->family,
                                   .ifa_prefixlen = a->prefix,
                                   .ifa_flags = IFA_F_PERMANENT,
                                   .ifa_scope = a->scope,
                                   .ifa_index = a->interface};
    const struct ifa_cacheinfo times = {.ifa_prefered = FOREVER, .ifa_valid = FOREVER};
    uint32_t bytes = family_bytes(a->family);

    begin_message(r->socket, r->head, RTM_NEWADDR, r->flags, &body, sizeof body);
    put_attribute(IFA_ADDRESS, a->bytes, bytes);
    if (a->family == AF_INET) {
        put_attribute(IFA_LOCAL, a->bytes, bytes);
        if (a->broadcast[0])
            put_attribute(IFA_BROADCAST, a->broadcast, bytes);
        put_text(IFA_LABEL, socket_interface_at(a->interface)->name);
    }
    put_number(IFA_FLAGS, IFA_F_PERMANENT);
    put_attribute(IFA_CACHEINFO, &times, sizeof times);
    if (a->family == AF_INET6 && a->interface == SOCKET_ROUTE_LO)
        put_byte(IFA_PROTO, PROTOCOL_LOOPBACK);
}

static int dump_addresses(struct request *r)
{
    const struct ifaddrmsg *asked = r->body;
    uint32_t family = family_of(r), only = 0;

    if (r->socket->options.strict) {
        if (r->bytes < sizeof *asked || asked->ifa_prefixlen || asked->ifa_flags ||
            asked->ifa_scope)
            return -EINVAL;
        only = asked->ifa_index;
        r->flags |= only ? NLM_F_DUMP_FILTERED : 0;
        if (only && socket_interface_at(only) == NULL)
            return -ENODEV;
    }
    for (uint32_t i = 0; i < SOCKET_ROUTE_ADDRESSES; i++) {
        const struct socket_route_address *a = &socket_route_addresses[i];

        if (socket_interface_at(a->interface) != NULL && (!only || only == a->interface) &&
            ((family != AF_INET && family != AF_INET6) || family == a->family))
            put_route_address(r, a);
    }
    send_answer(r->socket);
    return 0;
}

/* ---- routes ---- */

static void put_route(const struct request *r, const struct socket_route *route)
{
    const struct rtmsg body = {.rtm_family = route->family,
                               .rtm_dst_len = route->prefix,
                               .rtm_table = route->table,
                               .rtm_protocol = route->protocol,
                               .rtm_scope = route->scope,
                               .rtm_type = route->type};
    const struct rta_cacheinfo times = {0};
    uint32_t bytes = family_bytes(route->family);

    begin_message(r->socket, r->head, RTM_NEWROUTE, r->flags, &body, sizeof body);
    put_number(RTA_TABLE, route->table);
    if (route->prefix)
        put_attribute(RTA_DST, route->to, bytes);
    if (route->family == AF_INET6) {
        put_number(RTA_PRIORITY, route->table == RT_TABLE_MAIN ? 256 : 0);
    } else if (route->gateway[0]) {
        put_attribute(RTA_GATEWAY, route->gateway, bytes);
    } else {
        put_attribute(RTA_PREFSRC, socket_route_addresses[route->interface - 1].bytes, bytes);
    }
    put_number(RTA_OIF, route->interface);
    if (route->family == AF_INET6) {
        put_attribute(RTA_CACHEINFO, &times, sizeof times);
        put_byte(RTA_PREF, 0);
    }
}

static int dump_routes(struct request *r)
{
    const struct nlattr *table = NULL;
    uint32_t family = family_of(r), only = 0;

    if (r->socket->options.strict) {
        if (r->bytes < sizeof(struct rtmsg))
            return -EINVAL;
        table = find_attribute(r, sizeof(struct rtmsg), RTA_TABLE, sizeof only);
        if (table != NULL)
            memcpy(&only, table + 1, sizeof only);
        r->flags |= only ? NLM_F_DUMP_FILTERED : 0;
    }
    for (uint32_t i = 0; i < SOCKET_ROUTES; i++) {
        const struct socket_route *route = &socket_routes[i];

        if (socket_interface_at(route->interface) == NULL ||
            (route->user && !socket_outside.user) || (only && only != route->table))
            continue;
        if ((family != AF_INET && family != AF_INET6) || family == route->family)
            put_route(r, route);
    }
    send_answer(r->socket);
    return 0;
}

/* ---- what a request gets ---- */

static int dump_nothing(struct request *)
{
    return 0;
}

static const struct {
    uint32_t type;
    int (*dump)(struct request *r); /* returns what NLMSG_DONE says */
    int (*get)(struct request *r); /* NULL: EOPNOTSUPP */
} answers[] = {
    {RTM_GETLINK, dump_links, get_link},
    {RTM_GETADDR, dump_addresses, NULL},
    {RTM_GETROUTE, dump_routes, NULL},
    {RTM_GETNEIGH, dump_nothing, NULL},
};

static void answer_error(const struct request *r, int error)
{
    bool whole = error && !r->socket->options.short_errors && r->bytes <= ANSWER_BYTES / 2;
    const struct nlmsgerr body = {.error = error, .msg = *r->head};

    begin_message(r->socket, r->head, NLMSG_ERROR, whole ? 0 : NLM_F_CAPPED, &body, sizeof body);
    if (whole) {
        put_bytes(r->body, r->bytes);
        answer.message->nlmsg_len -= NLMSG_ALIGN(r->bytes) - r->bytes;
    }
    send_answer(r->socket);
}

static void dump(struct request *r, int (*make)(struct request *r))
{
    int error;

    r->flags = NLM_F_MULTI;
    error = make(r);
    begin_message(r->socket, r->head, NLMSG_DONE, r->flags, &error, sizeof error);
    send_answer(r->socket);
}

/* Returns what NLMSG_ERROR is to say, or -EINTR if there is an answer of another kind. */
static int answer_request(struct request *r)
{
    uint32_t type = r->head->nlmsg_type;

    if (type < NLMSG_MIN_TYPE)
        return 0;
    if (type > RTM_MAX)
        return -EOPNOTSUPP;
    if (r->bytes < sizeof(struct rtgenmsg))
        return 0;
    if (type % KINDS != KIND_GET)
        return -EPERM;
    for (uint32_t i = 0; i < ARRAY_COUNT(answers); i++) {
        if (answers[i].type != type)
            continue;
        if (!(r->head->nlmsg_flags & NLM_F_DUMP))
            return answers[i].get != NULL ? answers[i].get(r) : -EOPNOTSUPP;
        dump(r, answers[i].dump);
        return -EINTR;
    }
    return -EOPNOTSUPP;
}

void socket_route_request(struct socket *s, const uint8_t *messages, uint32_t bytes)
{
    cross_assert_held();
    while (bytes >= NLMSG_HDRLEN) {
        const struct nlmsghdr *head = (const void *)messages;
        struct request r = {.socket = s, .head = head, .body = head + 1};
        uint32_t step;
        int error = 0;

        if (head->nlmsg_len < NLMSG_HDRLEN || head->nlmsg_len > bytes)
            return;
        r.bytes = head->nlmsg_len - NLMSG_HDRLEN;
        if (head->nlmsg_flags & NLM_F_REQUEST)
            error = answer_request(&r);
        if (error != -EINTR && (error || head->nlmsg_flags & NLM_F_ACK))
            answer_error(&r, error);
        step = NLMSG_ALIGN(head->nlmsg_len);
        step = step < bytes ? step : bytes;
        messages += step;
        bytes -= step;
    }
}
