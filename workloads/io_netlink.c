/* io_netlink: what C libraries and the ip command ask of NETLINK_ROUTE, about the loopback. */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include "workloads/io.h"
#include "workloads/io_socket.h"

#define LO 1
#define USER 1000

static struct {
    struct nlmsghdr head;
    char body[64];
} request;
static char buffer[65536];

/* Sends one request, with `attribute` after its body unless this is empty. */
static long ask(int fd, int type, int flags, const void *body, unsigned bytes,
                const struct nlattr *attribute)
{
    unsigned more = attribute != NULL ? NLMSG_ALIGN(attribute->nla_len) : 0;

    memcpy(request.body, body, bytes);
    if (more)
        memcpy(request.body + bytes, attribute, attribute->nla_len);
    request.head = (struct nlmsghdr){.nlmsg_len = NLMSG_HDRLEN + bytes + more,
                                     .nlmsg_type = (__u16)type,
                                     .nlmsg_flags = (__u16)(NLM_F_REQUEST | flags),
                                     .nlmsg_seq = 7};
    return send(fd, &request, request.head.nlmsg_len, 0);
}

static void say_bytes(const char *name, const struct rtattr *a)
{
    printf("    %s:", name);
    for (unsigned i = 0; i < RTA_PAYLOAD(a); i++)
        printf(" %02x", ((const unsigned char *)RTA_DATA(a))[i]);
    printf("\n");
}

/* In the order of their types, since Linux's changes. */
static void say_attributes(const struct rtattr *first, unsigned bytes, const char *const *names,
                           unsigned count)
{
    for (unsigned type = 0; type < count; type++) {
        const struct rtattr *a = first;

        for (unsigned left = bytes; names[type] != NULL && RTA_OK(a, left); a = RTA_NEXT(a, left))
            if (a->rta_type == type)
                say_bytes(names[type], a);
    }
}

static void say_link(const struct nlmsghdr *h)
{
    static const char *const names[] = {
        [IFLA_IFNAME] = "name",      [IFLA_MTU] = "mtu",         [IFLA_MIN_MTU] = "least mtu",
        [IFLA_TXQLEN] = "queue",     [IFLA_ADDRESS] = "address", [IFLA_BROADCAST] = "broadcast",
        [IFLA_QDISC] = "discipline", [IFLA_OPERSTATE] = "state", [IFLA_CARRIER] = "carrier"};
    const struct ifinfomsg *i = NLMSG_DATA(h);

    if (i->ifi_index == LO) {
        printf("  link: type %u, flags %x\n", i->ifi_type, i->ifi_flags);
        say_attributes(IFLA_RTA(i), (unsigned)IFLA_PAYLOAD(h), names, sizeof names / sizeof *names);
    }
}

static void say_address(const struct nlmsghdr *h)
{
    static const char *const names[] = {[IFA_ADDRESS] = "address",
                                        [IFA_LOCAL] = "local",
                                        [IFA_LABEL] = "label",
                                        [IFA_BROADCAST] = "broadcast",
                                        [IFA_FLAGS] = "flags"};
    const struct ifaddrmsg *i = NLMSG_DATA(h);

    if (i->ifa_index == LO) {
        printf("  address: family %u, /%u, flags %x, scope %u\n", i->ifa_family, i->ifa_prefixlen,
               i->ifa_flags, i->ifa_scope);
        say_attributes(IFA_RTA(i), (unsigned)IFA_PAYLOAD(h), names, sizeof names / sizeof *names);
    }
}

static void say_route(const struct nlmsghdr *h)
{
    static const char *const names[] = {[RTA_DST] = "to",
                                        [RTA_PREFSRC] = "from",
                                        [RTA_TABLE] = "table",
                                        [RTA_PRIORITY] = "priority"};
    const struct rtmsg *r = NLMSG_DATA(h);
    unsigned left = (unsigned)RTM_PAYLOAD(h);
    int index = 0;

    for (const struct rtattr *a = RTM_RTA(r); RTA_OK(a, left); a = RTA_NEXT(a, left))
        if (a->rta_type == RTA_OIF)
            memcpy(&index, RTA_DATA(a), sizeof index);
    if (index == LO && r->rtm_table == RT_TABLE_LOCAL) {
        printf("  route: family %u, /%u, protocol %u, scope %u, type %u, flags %x\n", r->rtm_family,
               r->rtm_dst_len, r->rtm_protocol, r->rtm_scope, r->rtm_type, r->rtm_flags);
        say_attributes(RTM_RTA(r), (unsigned)RTM_PAYLOAD(h), names, sizeof names / sizeof *names);
    }
}

static void say_error(const struct nlmsghdr *h)
{
    const struct nlmsgerr *e = NLMSG_DATA(h);

    printf("  error %d, %u bytes, flags %x, of type %u, number %u\n", e->error, h->nlmsg_len,
           h->nlmsg_flags & ~NLM_F_ACK_TLVS, e->msg.nlmsg_type, e->msg.nlmsg_seq);
}

/* Returns 1 after a message that ends an answer. */
static int say_message(const struct nlmsghdr *h)
{
    int multi = h->nlmsg_flags & NLM_F_MULTI;

    switch (h->nlmsg_type) {
    case RTM_NEWLINK:
        say_link(h);
        return !multi;
    case RTM_NEWADDR:
        say_address(h);
        return !multi;
    case RTM_NEWROUTE:
        say_route(h);
        return !multi;
    case NLMSG_ERROR:
        say_error(h);
        return 1;
    case NLMSG_DONE:
        printf("  done: %d, %u bytes, flags %x, number %u\n", *(int *)NLMSG_DATA(h), h->nlmsg_len,
               h->nlmsg_flags, h->nlmsg_seq);
        return 1;
    default:
        printf("  type %u\n", h->nlmsg_type);
        return 1;
    }
}

/* Prints an answer up to its end. */
static void say_answer(const char *what, int fd)
{
    int ended = 0;

    printf("%s\n", what);
    while (!ended) {
        struct sockaddr_nl from;
        socklen_t name = sizeof from;
        long bytes = recvfrom(fd, buffer, sizeof buffer, MSG_DONTWAIT, (void *)&from, &name);
        unsigned left = (unsigned)bytes;

        if (bytes < 0) {
            io_say("  recvfrom", bytes);
            return;
        }
        if (name != sizeof from || from.nl_family != AF_NETLINK || from.nl_pid)
            printf("  not from the kernel\n");
        for (struct nlmsghdr *h = (void *)buffer; NLMSG_OK(h, left); h = NLMSG_NEXT(h, left))
            ended |= say_message(h);
    }
}

static void dumps(int fd)
{
    const struct ifinfomsg links = {.ifi_family = AF_UNSPEC};
    struct ifaddrmsg addresses = {.ifa_family = AF_UNSPEC};
    struct rtmsg routes = {.rtm_family = AF_INET};

    ask(fd, RTM_GETLINK, NLM_F_DUMP, &links, sizeof links, NULL);
    say_answer("links", fd);
    ask(fd, RTM_GETADDR, NLM_F_DUMP, &addresses, sizeof addresses, NULL);
    say_answer("addresses", fd);
    addresses.ifa_family = AF_INET6;
    ask(fd, RTM_GETADDR, NLM_F_DUMP, &addresses, sizeof addresses, NULL);
    say_answer("addresses of IPv6", fd);
    ask(fd, RTM_GETROUTE, NLM_F_DUMP, &routes, sizeof routes, NULL);
    say_answer("routes", fd);
}

static void strict(int fd)
{
    struct {
        struct nlattr head;
        unsigned table;
    } table = {{sizeof table, RTA_TABLE}, RT_TABLE_LOCAL};
    struct ifaddrmsg addresses = {.ifa_family = AF_INET, .ifa_index = LO};
    const struct rtmsg routes = {.rtm_family = AF_INET};

    SAY(setsockopt(fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &(int){1}, sizeof(int)));
    printf("strict %d\n", number(fd, SOL_NETLINK, NETLINK_GET_STRICT_CHK));
    ask(fd, RTM_GETADDR, NLM_F_DUMP, &addresses, sizeof addresses, NULL);
    say_answer("addresses of one interface", fd);
    addresses.ifa_index = 4711;
    ask(fd, RTM_GETADDR, NLM_F_DUMP, &addresses, sizeof addresses, NULL);
    say_answer("addresses of none", fd);
    addresses.ifa_prefixlen = 8;
    ask(fd, RTM_GETADDR, NLM_F_DUMP, &addresses, sizeof addresses, NULL);
    say_answer("addresses with a length", fd);
    ask(fd, RTM_GETROUTE, NLM_F_DUMP, &routes, sizeof routes, &table.head);
    say_answer("routes of a table", fd);
}

static void one_link(int fd)
{
    struct {
        struct nlattr head;
        char name[4];
    } name = {{NLA_HDRLEN + 3, IFLA_IFNAME}, "lo"};
    struct ifinfomsg link = {.ifi_index = LO};

    ask(fd, RTM_GETLINK, 0, &link, sizeof link, NULL);
    say_answer("a link by its number", fd);
    link.ifi_index = 0;
    ask(fd, RTM_GETLINK, NLM_F_ACK, &link, sizeof link, &name.head);
    say_answer("a link by its name", fd);
    say_answer("and that it is done", fd);
    ask(fd, RTM_GETLINK, 0, &link, sizeof link, NULL);
    say_answer("no link", fd);
    link.ifi_index = 4711;
    ask(fd, RTM_GETLINK, 0, &link, sizeof link, NULL);
    say_answer("a link that is not there", fd);
}

static void refusals(int fd)
{
    struct sockaddr_nl to = {.nl_family = AF_NETLINK, .nl_pid = 1};
    const struct ifinfomsg link = {.ifi_index = LO};

    ask(fd, RTM_NEWLINK, NLM_F_ACK, &link, sizeof link, NULL);
    say_answer("a change", fd);
    ask(fd, RTM_DELADDR, 0, &link, sizeof link, NULL);
    say_answer("a removal", fd);
    ask(fd, RTM_MAX + 1, 0, &link, sizeof link, NULL);
    say_answer("an unknown type", fd);
    ask(fd, NLMSG_NOOP, NLM_F_ACK, &link, sizeof link, NULL);
    say_answer("nothing", fd);
    ask(fd, RTM_GETLINK, 0, "", 0, NULL);
    say_answer("too short to be answered", fd);
    SAY(setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &(int){1}, sizeof(int)));
    ask(fd, RTM_MAX + 1, 0, &link, sizeof link, NULL);
    say_answer("a short error", fd);
    SAY(send(fd, "", 0, 0));
    SAY(send(fd, &request, sizeof request, MSG_OOB));
    SAY(send(fd, "abc", 3, 0));
    request.head.nlmsg_len = 8;
    SAY(send(fd, &request, sizeof request, 0));
    request.head.nlmsg_len = 1 << 20;
    SAY(send(fd, &request, sizeof request, 0));
    SAY(sendto(fd, &request, sizeof request, 0, (void *)&to, sizeof to));
    SAY(sendto(fd, &request, sizeof request, 0, (void *)&to, 4));
    say_answer("no answers", fd);
    SAY(setsockopt(fd, SOL_NETLINK, 99, &(int){1}, sizeof(int)));
    SAY(setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &(int){RTNLGRP_LINK}, sizeof(int)));
    SAY(setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &(int){4711}, sizeof(int)));
    SAY(listen(fd, 1));
    SAY(accept(fd, NULL, NULL));
    SAY(shutdown(fd, SHUT_RDWR));
}

static void names(void)
{
    struct sockaddr_nl name = {.nl_family = AF_NETLINK}, other = name;
    socklen_t bytes = sizeof name;
    int first = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE),
        second = socket(AF_NETLINK, SOCK_DGRAM, NETLINK_ROUTE);

    SAY(getsockname(first, (void *)&name, &bytes));
    printf("%u bytes, family %u, port %u\n", bytes, name.nl_family, name.nl_pid);
    SAY(bind(first, (void *)&name, 4));
    SAY(bind(first, (void *)&name, sizeof name));
    SAY(getsockname(first, (void *)&name, &bytes));
    printf("its number: %d\n", name.nl_pid == (unsigned)getpid());
    SAY(bind(second, (void *)&name, sizeof name));
    SAY(bind(second, (void *)&other, sizeof other));
    SAY(getsockname(second, (void *)&other, &bytes));
    printf("another number: %d\n", other.nl_pid != name.nl_pid && other.nl_pid != 0);
    SAY(bind(second, (void *)&name, sizeof name));
    SAY(getpeername(second, (void *)&other, &bytes));
    printf("the kernel: %u\n", other.nl_pid);
    SAY(connect(second, (void *)&other, sizeof other));
    SAY(connect(second, (void *)&name, sizeof name));
    printf("ready %x\n", (unsigned)readiness(first));
    ask(first, RTM_MAX + 1, 0, "0123456789abcdef", 16, NULL);
    printf("ready %x\n", (unsigned)readiness(first));
    SAY(recv(first, buffer, 0, MSG_PEEK | MSG_TRUNC));
    SAY(recv(first, buffer, 20, MSG_TRUNC));
    SAY(recv(first, buffer, 20, MSG_DONTWAIT));
    SAY(socket(AF_NETLINK, SOCK_STREAM, NETLINK_ROUTE));
    SAY(socketpair(AF_NETLINK, SOCK_RAW, 0, (int[2]){0}));
    close(first);
    close(second);
}

/* ---- the C library ---- */

static void library(void)
{
    struct if_nameindex *list = if_nameindex();
    struct ifaddrs *all = NULL;
    char name[IF_NAMESIZE] = "", text[64];

    printf("%s, %u, %s\n", list != NULL && list->if_index == LO ? list->if_name : "none",
           if_nametoindex("lo"), if_indextoname(LO, name));
    if_freenameindex(list);
    SAY(getifaddrs(&all));
    for (const struct ifaddrs *a = all; a != NULL; a = a->ifa_next) {
        if (strcmp(a->ifa_name, "lo") != 0 || a->ifa_addr == NULL)
            continue;
        printf("%s: family %d, flags %x", a->ifa_name, a->ifa_addr->sa_family, a->ifa_flags);
        if (a->ifa_addr->sa_family == AF_INET || a->ifa_addr->sa_family == AF_INET6)
            printf(", %s",
                   inet_ntop(a->ifa_addr->sa_family,
                             a->ifa_addr->sa_data + (a->ifa_addr->sa_family == AF_INET ? 2 : 6),
                             text, sizeof text));
        printf("\n");
    }
    freeifaddrs(all);
}

int main(void)
{
    int fd;

    io_quietly();
    if (geteuid() == 0 && (setgid(USER) != 0 || setuid(USER) != 0))
        return 1;
    names();
    fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    dumps(fd);
    one_link(fd);
    refusals(fd);
    strict(fd);
    close(fd);
    library();
    return 0;
}
