/* Fuzzes what comes from the network: guest/net over lwIP.
 *
 * The input is a list of steps, the first byte of each says which: raw frames, and frames that get
 * through the first checks (lengths, addresses, checksums, sequence numbers), so that what is
 * behind them is reached.  A bad packet may end a connection, but nothing else.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

#include <lwip/sys.h>

#include "guest/net/net_checksum.c"
#include "guest/net/net_offload.c"
#include "guest/net/net_stack.c"
#include "guest/net/outbox.c"
#include "guest/net/stream_client.c"

#define MEMORY_BYTES OUTBOX_BYTES_MIN
#define STEPS_MOST 200
#define AT_IP 14
#define AT_PAYLOAD 34

/* ---- what guest/net needs of the kernel ---- */

static uint64_t now_ms;
static uint8_t incoming[NET_FRAME_MAX];
static size_t incoming_bytes;
static uint32_t transaction; /* DHCP's, as the guest sends it */

uint64_t net_port_ms(void)
{
    return now_ms;
}

void net_port_pass(uint32_t)
{
}

u32_t sys_now(void)
{
    return (u32_t)now_ms;
}

uint32_t net_port_random(void)
{
    static uint32_t state;

    return state += 0x9e3779b9u;
}

void net_port_assert(const char *text)
{
    fprintf(stderr, "lwIP: %s\n", text);
    abort();
}

void *net_port_allocate(size_t bytes)
{
    return malloc(bytes);
}

void *net_port_allocate_zeroed(size_t count, size_t bytes)
{
    return calloc(count, bytes);
}

void net_port_free(void *block)
{
    free(block);
}

void *platform_allocate(size_t bytes)
{
    static uint8_t allocated[NET_LARGE_MAX];

    fuzz_check(bytes <= sizeof allocated);
    return allocated;
}

void log_line(const char *format, ...)
{
    (void)format;
}

static bool fake_link_up(struct net_device *net)
{
    (void)net;
    return true;
}

static int fake_send(struct net_device *net, const void *frame, size_t bytes)
{
    const uint8_t *f = frame;

    (void)net;
    fuzz_check(bytes >= 14 && bytes <= NET_FRAME_MAX);
    if (bytes > 50 && f[12] == 8 && f[13] == 0 && f[23] == 17)
        memcpy(&transaction, f + 46, sizeof transaction);
    return 0;
}

static bool fake_cuts(struct net_device *net)
{
    (void)net;
    return true;
}

static int fake_send_large(struct net_device *net, const void *frame, size_t bytes, size_t segment)
{
    (void)net;
    (void)frame;
    fuzz_check(segment > 0 && segment <= NET_FRAME_MAX - 54);
    fuzz_check(bytes > 54 + segment && bytes <= NET_LARGE_MAX);
    return 0;
}

static void fake_kick(struct net_device *net)
{
    (void)net;
}

static size_t fake_receive(struct net_device *net, void *out, size_t room)
{
    size_t bytes = incoming_bytes;

    (void)net;
    fuzz_check(bytes <= room);
    memcpy(out, incoming, bytes);
    incoming_bytes = 0;
    return bytes;
}

static void fake_close(struct net_device *net)
{
    (void)net;
}

static const struct net_driver driver = {
    .name = "fuzz",
    .link_up = fake_link_up,
    .send = fake_send,
    .cuts = fake_cuts,
    .send_large = fake_send_large,
    .kick = fake_kick,
    .receive = fake_receive,
    .close = fake_close,
};

int net_open(struct net_device *net)
{
    *net = (struct net_device){.driver = &driver, .mac = {2, 0, 0, 0, 0, 2}};
    return 0;
}

/* ---- frames ---- */

struct input {
    const uint8_t *bytes;
    size_t left;
};

static uint8_t take_byte(struct input *in)
{
    if (!in->left)
        return 0;
    in->left--;
    return *in->bytes++;
}

static size_t take_bytes_of(struct input *in, uint8_t *out, size_t most)
{
    size_t count = (size_t)take_byte(in) * 6;

    if (count > most)
        count = most;
    if (count > in->left)
        count = in->left;
    memcpy(out, in->bytes, count);
    in->bytes += count;
    in->left -= count;
    return count;
}

static void put16(uint8_t *at, unsigned value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static void put32(uint8_t *at, uint32_t value)
{
    put16(at, value >> 16);
    put16(at + 2, value & 0xffff);
}

static void deliver(size_t bytes)
{
    incoming_bytes = bytes;
    net_stack_poll();
}

/* A packet from the collector with `count` bytes behind its IP header. */
static void deliver_ip(uint8_t protocol, size_t count)
{
    static const uint8_t from[] = {10, 0, 2, 2}, to[] = {10, 0, 2, 15};
    uint8_t *ip = incoming + AT_IP;

    memcpy(incoming, card.mac, 6);
    memset(incoming + 6, 2, 6);
    put16(incoming + 12, 0x0800);
    memset(ip, 0, 20);
    ip[0] = 0x45;
    put16(ip + 2, (unsigned)(20 + count));
    ip[8] = 64;
    ip[9] = protocol;
    memcpy(ip + 12, from, 4);
    memcpy(ip + 16, to, 4);
    uint16_t sum = (uint16_t)~net_checksum(ip, 20);
    memcpy(ip + 10, &sum, 2);
    deliver(AT_PAYLOAD + count);
}

static void step_raw(struct input *in)
{
    deliver(take_bytes_of(in, incoming, sizeof incoming));
}

static void step_ip(struct input *in)
{
    uint8_t protocol = take_byte(in);

    deliver_ip(protocol, take_bytes_of(in, incoming + AT_PAYLOAD, sizeof incoming - AT_PAYLOAD));
}

static void step_dhcp(struct input *in)
{
    uint8_t *udp = incoming + AT_PAYLOAD;

    memset(udp, 0, 8 + 240);
    put16(udp, 67);
    put16(udp + 2, 68);
    udp[8] = 2; /* BOOTREPLY, Ethernet */
    udp[9] = 1;
    udp[10] = 6;
    memcpy(udp + 12, &transaction, 4);
    put32(udp + 24, 0x0a00020f);
    memcpy(udp + 36, card.mac, 6);
    put32(udp + 8 + 236, 0x63825363);
    size_t count =
        8 + 240 + take_bytes_of(in, udp + 8 + 240, sizeof incoming - AT_PAYLOAD - 8 - 240);
    put16(udp + 4, (unsigned)count);
    deliver_ip(17, count);
}

static void put_tcp_checksum(uint8_t *tcp, size_t count)
{
    uint8_t pseudo[12] = {10, 0, 2, 2, 10, 0, 2, 15, 0, 6};

    put16(pseudo + 10, (unsigned)count);
    put16(tcp + 16, 0);
    uint32_t sum = (uint32_t)net_checksum(pseudo, sizeof pseudo) + net_checksum(tcp, (int)count);
    uint16_t folded = (uint16_t) ~((sum & 0xffff) + (sum >> 16));
    memcpy(tcp + 16, &folded, 2);
}

/* A segment that is due, or nearly: `shift` moves its sequence number, `back` what it acknowledges.
 */
static void deliver_tcp(uint8_t flags, uint8_t shift, uint8_t back, size_t options, size_t count)
{
    const struct tcp_pcb *pcb = client.pcb;
    uint8_t *tcp = incoming + AT_PAYLOAD;

    if (!pcb)
        return;
    put16(tcp, client.port);
    put16(tcp + 2, pcb->local_port);
    put32(tcp + 4, pcb->rcv_nxt + (uint32_t)(int8_t)shift);
    put32(tcp + 8, pcb->snd_nxt - back);
    tcp[12] = (uint8_t)((5 + options) << 4);
    tcp[13] = flags;
    put16(tcp + 14, 0xffff);
    put16(tcp + 18, 0);
    put_tcp_checksum(tcp, 20 + options * 4 + count);
    deliver_ip(6, 20 + options * 4 + count);
}

static void step_tcp(struct input *in)
{
    uint8_t flags = take_byte(in), shift = take_byte(in), back = take_byte(in);
    size_t options = take_byte(in) % 11;
    size_t count = take_bytes_of(in, incoming + AT_PAYLOAD + 20, sizeof incoming - AT_PAYLOAD - 20);

    if (count < options * 4)
        options = count / 4;
    deliver_tcp(flags, shift, back, options, count - options * 4);
}

static void say(const void *bytes, size_t count)
{
    memcpy(incoming + AT_PAYLOAD + 20, bytes, count);
    deliver_tcp(0x10, 0, 0, 0, count); /* ACK */
}

static void step_welcome(struct input *in)
{
    struct run_welcome welcome;
    uint64_t have[RUN_STREAM_PORTS];

    for (int i = 0; i < RUN_STREAM_PORTS; i++)
        have[i] = take_byte(in);
    run_stream_welcome(&welcome, (enum run_welcome_status)take_byte(in), have);
    say(&welcome, sizeof welcome);
}

static void step_ack(struct input *in)
{
    struct run_ack ack;
    uint8_t status = take_byte(in);

    run_stream_ack(&ack, (enum run_welcome_status)status, take_byte(in));
    say(&ack, sizeof ack);
}

static void step_time(struct input *in)
{
    for (unsigned i = take_byte(in); i > 0; i--) {
        now_ms += 50;
        net_stack_poll();
        stream_client_poll();
    }
}

static void step_put(struct input *in)
{
    uint8_t bytes[256 * 6];
    uint8_t port = take_byte(in);
    size_t count = take_bytes_of(in, bytes, sizeof bytes);

    outbox_put(client.box, 1 + port % (RUN_STREAM_PORTS - 1), bytes, count);
    stream_client_poll();
}

static void (*const steps[])(struct input *in) = {
    step_raw, step_ip, step_dhcp, step_tcp, step_welcome, step_ack, step_time, step_put,
};

static void start_network(const struct boot_network *network)
{
    char problem[160];

    fuzz_check(net_stack_start(network, problem, sizeof problem) == 0);
    dhcp_start(&interface);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct boot_network network = {.address = 0x0f02000a,
                                          .netmask = 0x00ffffff,
                                          .collector = 0x0202000a,
                                          .port = 4817,
                                          .machine = "m",
                                          .run = "r"};
    static uint64_t memory[MEMORY_BYTES / 8];
    static bool started;
    struct input in = {data, size};
    struct outbox box;

    if (!started)
        start_network(&network);
    started = true;
    outbox_init(&box, memory, sizeof memory);
    fuzz_check(stream_client_start(&network, &box) == 0);
    for (int i = 0; i < STEPS_MOST && in.left; i++) {
        steps[take_byte(&in) % (sizeof steps / sizeof steps[0])](&in);
        stream_client_poll();
    }
    let_go();
    return 0;
}
