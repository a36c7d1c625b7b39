/* Tries the network card: ARP, a burst of numbered frames, echoes. */
#include "guest/variants/net_test.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "drivers/clock/clock.h"
#include "drivers/net/net.h"
#include "guest/base/log.h"
#include "lib/x86.h"

#define ECHOES 1000
#define ECHOES_UNDER_WAY 16
#define BURST 1000
#define ANSWER_US 3000000
#define LINK_US 10000000

/* RFC 826, 791, 792, as bytes in a frame */
enum {
    AT_TYPE = 12,
    AT_ARP = 14,
    ARP_BYTES = 28,
    AT_IP = 14,
    AT_ICMP = 34,
    AT_PAYLOAD = 42,
    TYPE_ARP = 0x0806,
    TYPE_IP = 0x0800,
    TYPE_LOCAL = 0x88b5, /* IEEE 802, local experimental */
    ICMP_REPLY = 0,
    ICMP_REQUEST = 8,
};

static const uint8_t own_ip[] = {10, 0, 2, 15}, host_ip[] = {10, 0, 2, 2};
static struct net_device net;
static uint8_t host_mac[NET_MAC_BYTES];
static uint8_t frame[NET_FRAME_MAX], received[NET_FRAME_MAX];

static void put16(uint8_t *at, unsigned value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static unsigned get16(const uint8_t *at)
{
    return (unsigned)at[0] << 8 | at[1];
}

static void put_header(const uint8_t *to, unsigned type)
{
    memcpy(frame, to, NET_MAC_BYTES);
    memcpy(frame + NET_MAC_BYTES, net.mac, NET_MAC_BYTES);
    put16(frame + AT_TYPE, type);
}

/* Sends a frame; waits for a free descriptor. */
static bool send(size_t bytes)
{
    uint64_t start = clock_us();
    int error;

    while ((error = net.driver->send(&net, frame, bytes)) != 0) {
        net.driver->kick(&net);
        if (error != -EAGAIN || clock_us() - start > ANSWER_US) {
            log_line("net-test: a frame of %zu bytes could not be sent: error %d", bytes, error);
            return false;
        }
        x86_pause();
    }
    return true;
}

static bool wait_for_link(void)
{
    uint64_t start = clock_us();

    while (!net.driver->link_up(&net)) {
        if (clock_us() - start > LINK_US) {
            log_line("net-test: no link");
            return false;
        }
        x86_pause();
    }
    log_line("net-test: the link is up after %lu ms", (clock_us() - start) / 1000);
    return true;
}

static bool resolve(void)
{
    static const uint8_t everybody[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    static const uint8_t request[] = {0, 1, 8, 0, 6, 4, 0, 1};
    uint64_t start = clock_us();

    put_header(everybody, TYPE_ARP);
    memcpy(frame + AT_ARP, request, sizeof request);
    memcpy(frame + AT_ARP + 8, net.mac, NET_MAC_BYTES);
    memcpy(frame + AT_ARP + 14, own_ip, 4);
    memcpy(frame + AT_ARP + 24, host_ip, 4);
    if (!send(AT_ARP + ARP_BYTES))
        return false;
    net.driver->kick(&net);
    while (clock_us() - start < ANSWER_US) {
        size_t bytes = net.driver->receive(&net, received, sizeof received);
        if (bytes < AT_ARP + ARP_BYTES || get16(received + AT_TYPE) != TYPE_ARP ||
            get16(received + AT_ARP + 6) != 2 || memcmp(received + AT_ARP + 14, host_ip, 4) != 0)
            continue;
        memcpy(host_mac, received + AT_ARP + 8, NET_MAC_BYTES);
        log_line("net-test: 10.0.2.2 is at %02x:%02x:%02x:%02x:%02x:%02x", host_mac[0], host_mac[1],
                 host_mac[2], host_mac[3], host_mac[4], host_mac[5]);
        return true;
    }
    log_line("net-test: nobody answers");
    return false;
}

static unsigned internet_checksum(const uint8_t *bytes, size_t count)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += (uint32_t)bytes[i] << (i & 1 ? 0 : 8);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return ~sum & 0xffff;
}

static size_t echo_bytes(unsigned number)
{
    return (size_t)number * 37 % (NET_FRAME_MAX - AT_PAYLOAD + 1);
}

static uint8_t echo_byte(unsigned number, size_t at)
{
    return (uint8_t)((size_t)number * 7 + at);
}

static bool send_echo(unsigned number)
{
    static const uint8_t ip[] = {0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 1, 0, 0};
    size_t bytes = echo_bytes(number);

    put_header(host_mac, TYPE_IP);
    memcpy(frame + AT_IP, ip, sizeof ip);
    put16(frame + AT_IP + 2, (unsigned)(AT_PAYLOAD - AT_IP + bytes));
    memcpy(frame + AT_IP + 12, own_ip, 4);
    memcpy(frame + AT_IP + 16, host_ip, 4);
    put16(frame + AT_IP + 10, internet_checksum(frame + AT_IP, AT_ICMP - AT_IP));
    memset(frame + AT_ICMP, 0, AT_PAYLOAD - AT_ICMP);
    frame[AT_ICMP] = ICMP_REQUEST;
    put16(frame + AT_ICMP + 6, number);
    for (size_t i = 0; i < bytes; i++)
        frame[AT_PAYLOAD + i] = echo_byte(number, i);
    put16(frame + AT_ICMP + 2, internet_checksum(frame + AT_ICMP, AT_PAYLOAD - AT_ICMP + bytes));
    return send(AT_PAYLOAD + bytes);
}

/* Returns true for an intact answer to echo `number`.  Short frames arrive padded. */
static bool is_echo(unsigned number, size_t bytes)
{
    if (bytes < AT_PAYLOAD + echo_bytes(number) || get16(received + AT_TYPE) != TYPE_IP ||
        memcmp(received, net.mac, NET_MAC_BYTES) != 0 || received[AT_ICMP] != ICMP_REPLY ||
        get16(received + AT_ICMP + 6) != number)
        return false;
    for (size_t i = 0; i < echo_bytes(number); i++)
        if (received[AT_PAYLOAD + i] != echo_byte(number, i))
            return false;
    return true;
}

static void exchange_echoes(void)
{
    unsigned sent = 0, good = 0, other = 0;
    uint64_t start = clock_us(), last = start;

    while (good < ECHOES && clock_us() - last < ANSWER_US) {
        size_t bytes;

        while (sent < ECHOES && sent - good < ECHOES_UNDER_WAY) {
            if (!send_echo(sent))
                return;
            sent++;
        }
        net.driver->kick(&net);
        bytes = net.driver->receive(&net, received, sizeof received);
        if (bytes == 0)
            continue;
        last = clock_us();
        if (is_echo(good, bytes))
            good++;
        else
            other++;
    }
    log_line("net-test: %u of %u echoes came back, %u other frames", good, ECHOES, other);
}

static void send_burst(void)
{
    uint64_t start = clock_us();

    for (unsigned i = 0; i < BURST; i++) {
        size_t bytes = 60 + (size_t)i * 31 % (NET_FRAME_MAX - 59);
        put_header(host_mac, TYPE_LOCAL);
        memset(frame + 14, (int)(i & 0xff), bytes - 14);
        put16(frame + 14, i);
        if (!send(bytes))
            return;
        if (i % 64 == 63)
            net.driver->kick(&net);
    }
    net.driver->kick(&net);
    log_line("net-test: %u frames sent in %lu us", BURST, clock_us() - start);
}

void net_test(void)
{
    int error = net_open(&net);

    if (error) {
        log_line("net-test: no card: error %d", error);
        return;
    }
    if (wait_for_link() && resolve()) {
        send_burst();
        exchange_echoes(); /* all frames of the burst have left when the first echo returns */
    }
    log_line("net-test: %lu sent, %lu received, %lu dropped", net.frames_sent, net.frames_received,
             net.frames_dropped);
    net.driver->close(&net);
}
