/* What belongs to the outside: addresses, ports, datagrams, and waiting for it. */
#include <netinet/in.h>
#include <string.h>

#include "guest/base/run.h"
#include "guest/file/input.h"
#include "guest/service/service.h"
#include "guest/service/service_cpu.h"
#include "guest/service/service_network.h"
#include "guest/socket/socket.h"
#include "guest/socket/socket_outside_state.h"

#define PORT_NAMES 53u /* of name servers */
#define DATAGRAM_COST 512u /* counts with the bytes of a datagram */

static struct {
    uint16_t ports[RUN_NETWORK_PUBLISHED_MAX];
    uint32_t count;
} published[2]; /* TCP, UDP */

/* ---- addresses ---- */

static void put_v4(struct socket_address *a, uint32_t address)
{
    address = __builtin_bswap32(address);
    socket_address_any(a, true);
    memcpy(a->bytes + 12, &address, sizeof address);
}

void socket_outside_own(struct socket_address *a, bool v4)
{
    put_v4(a, RUN_NETWORK_GUEST);
    if (!v4) { /* fd00::a00:20f: an address for sites, so that programs prefer IPv4 */
        memset(a->bytes, 0, 12);
        a->bytes[0] = 0xfd;
    }
}

static bool same_bytes(const struct socket_address *a, const struct socket_address *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

bool socket_outside_is_own(const struct socket_address *a)
{
    struct socket_address own;

    socket_outside_own(&own, socket_address_is_v4(a));
    return socket_outside.offered && same_bytes(a, &own);
}

static bool is_published(const struct socket *s)
{
    bool udp = s->protocol == IPPROTO_UDP;

    for (uint32_t i = 0; i < published[udp].count; i++)
        if (published[udp].ports[i] == s->inet.local.port)
            return true;
    return false;
}

/* Returns true for an address of a group. */
static bool is_group(const struct socket_address *a)
{
    return socket_address_is_v4(a) ? a->bytes[12] >= 224 : a->bytes[0] == 0xff;
}

bool socket_outside_covers(const struct socket *s, const struct socket_address *to)
{
    struct socket_address host;
    enum socket_place place;

    if (!socket_outside.offered)
        return false;
    place = socket_address_place(to);
    if (place == SOCKET_PLACE_HERE)
        return socket_outside.user && to->port == PORT_NAMES &&
               socket_inet_find(s->protocol, to, &s->inet.local) == NULL;
    if (place != SOCKET_PLACE_ELSEWHERE || socket_outside_is_own(to) || is_group(to))
        return false;
    put_v4(&host, RUN_NETWORK_HOST);
    return socket_outside.user ||
           (s->protocol == IPPROTO_UDP && is_published(s) && same_bytes(to, &host));
}

/* ---- datagrams ---- */

int socket_outside_send(struct socket *s, const struct socket_address *to, struct socket_message *m)
{
    struct service_network_frame *out = service_network_out();
    uint32_t bytes = (uint32_t)m->bytes.left;
    int error = socket_bytes_take(&m->bytes, out->data, bytes);

    if (error)
        return error;
    out->frame = (struct run_network_frame){.type = RUN_NETWORK_DATAGRAM,
                                            .bytes = bytes,
                                            .port = to->port,
                                            .guest_port = s->inet.local.port};
    memcpy(out->frame.address, to->bytes, sizeof out->frame.address);
    s->outside = SOCKET_OUTSIDE_DATAGRAMS;
    socket_outside_put();
    return 0;
}

struct socket *socket_outside_find(uint32_t protocol, uint16_t port,
                                   const struct socket_address *from, struct socket_address *to)
{
    struct socket *found = NULL;

    for (int i = 0; i < 3 && found == NULL; i++) {
        if (i == 0)
            socket_outside_own(to, socket_address_is_v4(from));
        else
            socket_address_loopback(to, i == 1);
        to->port = port;
        found = socket_inet_find(protocol, to, from);
    }
    return found;
}

void socket_outside_datagram(const struct run_network_frame *frame, const void *data)
{
    uint8_t name[SOCKET_NAME_MAX];
    struct socket_packet *packet;
    struct socket_address from, to;
    struct socket *receiver;
    uint32_t name_bytes;

    memcpy(from.bytes, frame->address, sizeof from.bytes);
    from.port = frame->port;
    receiver = socket_outside_find(IPPROTO_UDP, frame->guest_port, &from, &to);
    if (receiver == NULL || receiver->shut & SOCKET_SHUT_READ ||
        receiver->in.bytes + (uint64_t)receiver->in.packets * DATAGRAM_COST + frame->bytes >
            (uint64_t)receiver->options.receive_bytes)
        return; /* a network loses what there is no room for */
    name_bytes = socket_address_write(&from, receiver->domain, name);
    packet = socket_packet_new(name_bytes + frame->bytes, false);
    if (packet == NULL)
        return;
    memcpy(packet->data, name, name_bytes);
    memcpy(packet->data + name_bytes, data, frame->bytes);
    packet->name_bytes = (uint16_t)name_bytes;
    packet->start = name_bytes;
    packet->end = name_bytes + frame->bytes;
    socket_datagram_put(receiver, packet);
}

/* ---- waiting ---- */

static bool expects(const struct socket *s)
{
    if (s->protocol == IPPROTO_TCP)
        return s->state == SOCKET_LISTENS && is_published(s);
    return s->outside || is_published(s);
}

static bool socket_outside_may_come(void)
{
    return socket_outside.offered && (socket_outside.used || socket_inet_any(expects));
}

bool socket_outside_awaited(void)
{
    return input_awaited() || socket_outside_may_come();
}

void socket_outside_ask(uint64_t ns)
{
    struct run_network_frame *frame = &service_network_out()->frame;

    socket_outside.wait = (struct socket_outside_wait){.number = socket_outside.wait.number + 1};
    *frame = (struct run_network_frame){
        .type = RUN_NETWORK_WAIT, .time_ns = ns, .wait = socket_outside.wait.number};
    service_network_send();
}

/* Waits until something comes. */
static void wait_for_frame(void)
{
    for (;;) {
        service_cpu_poll();
        if (run_state.stop_signal || service_network_take())
            return;
        service_cpu_wait();
    }
}

bool socket_outside_wait(uint64_t ns, uint64_t *passed_ns)
{
    struct service_pause pause;

    if (!socket_outside_may_come())
        return input_idle(ns, passed_ns);
    service_pause(&pause);
    socket_outside_ask(ns);
    if (!input_awaited())
        wait_for_frame();
    service_continue(&pause, HR_GAP_INPUT);
    if (input_awaited() && !socket_outside.wait.over)
        (void)input_idle(UINT64_MAX, passed_ns); /* ends when a frame comes, too */
    *passed_ns = socket_outside.wait.passed_ns < ns ? socket_outside.wait.passed_ns : ns;
    socket_outside.wait.number++; /* its answer comes too late from now on */
    return !socket_outside.wait.over;
}

/* ---- boot ---- */

static void read_ports(const char *key, bool udp)
{
    const char *text;
    size_t position = 0;

    while ((text = manifest_next(&run.manifest, key, &position)) != NULL &&
           published[udp].count < RUN_NETWORK_PUBLISHED_MAX) {
        uint32_t port = 0;

        for (; *text >= '0' && *text <= '9' && port <= UINT16_MAX; text++)
            port = port * 10 + (uint32_t)(*text - '0');
        published[udp].ports[published[udp].count++] = (uint16_t)port;
    }
}

void socket_outside_configure(void)
{
    uint64_t user = 0;

    manifest_number(&run.manifest, "network", &user);
    socket_outside.offered = true;
    socket_outside.user = user;
    read_ports("published-tcp", false);
    read_ports("published-udp", true);
}
