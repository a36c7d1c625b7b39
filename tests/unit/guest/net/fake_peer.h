/* The other end of the wire for tests of guest/net: answers ARP, is a DHCP server if it is to be,
 * and a TCP that takes one connection at a time, with losses.  What TCP brings it gives to
 * peer_input. Include once.  Layouts: RFC 826, 791, 2131, 9293.
 */
#ifndef TESTS_UNIT_GUEST_NET_FAKE_PEER_H
#define TESTS_UNIT_GUEST_NET_FAKE_PEER_H

#include <arpa/inet.h>
#include <stdbool.h>
#include <string.h>

#include "tests/unit/test.h"

#define PEER_FRAMES 4096
#define PEER_FRAME_BYTES 1514
#define PEER_OUT_BYTES 65536
#define PEER_RETRY_MS 400
#define PEER_SCALE 7

enum { /* where things are in a frame */
       AT_TYPE = 12,
       AT_ARP = 14,
       AT_IP = 14,
       AT_TCP = 34,
       AT_UDP = 34,
       AT_BOOTP = 42,
       AT_OPTIONS = 42 + 240,
};

enum { TCP_F_FIN = 1, TCP_F_SYN = 2, TCP_F_RST = 4, TCP_F_PSH = 8, TCP_F_ACK = 16 };

static const uint8_t peer_mac[6] = {2, 0, 0, 0, 0, 1}, guest_mac[6] = {2, 0, 0, 0, 0, 2};
static const uint8_t peer_ip[4] = {10, 0, 2, 2}, guest_ip[4] = {10, 0, 2, 15};

static struct {
    /* how it behaves */
    bool dhcp, refuses, deaf;
    unsigned loss_of_guest, loss_of_peer; /* in 1000 frames */
    uint32_t window; /* bytes */
    uint16_t first_window; /* in the answer to a SYN; 0: as large as can be */
    struct test_random random;
    /* frames to the guest */
    uint8_t frames[PEER_FRAMES][PEER_FRAME_BYTES];
    size_t frame_bytes[PEER_FRAMES];
    unsigned first, last;
    /* the connection */
    bool open;
    uint16_t guest_port;
    uint32_t send_next, send_first, receive_next;
    uint8_t out[PEER_OUT_BYTES]; /* from send_first on */
    size_t out_used;
    uint64_t sent_ms;
    uint32_t connections, resets;
} peer;

/* The test's: what came over the connection, and that a new one began. */
static void peer_connected(void);
static void peer_input(const uint8_t *bytes, size_t count);

static uint64_t fake_ms(void);

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

static unsigned get16(const uint8_t *at)
{
    return (unsigned)at[0] << 8 | at[1];
}

static uint32_t get32(const uint8_t *at)
{
    return (uint32_t)get16(at) << 16 | get16(at + 2);
}

static uint32_t sum_of(const uint8_t *bytes, size_t count)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += (uint32_t)bytes[i] << (i & 1 ? 0 : 8);
    return sum;
}

static unsigned checksum(uint32_t sum)
{
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return ~sum & 0xffff;
}

/* Of UDP and TCP, the header that is not sent included. */
static unsigned transport_checksum(const uint8_t *frame, size_t bytes)
{
    const uint8_t *ip = frame + AT_IP;

    return checksum(sum_of(ip + 12, 8) + ip[9] + (uint32_t)(bytes - AT_TCP) +
                    sum_of(frame + AT_TCP, bytes - AT_TCP));
}

static void peer_send(const uint8_t *frame, size_t bytes)
{
    unsigned slot = peer.last % PEER_FRAMES;

    assert_true(bytes <= PEER_FRAME_BYTES);
    if (peer.last - peer.first == PEER_FRAMES ||
        test_random_below(&peer.random, 1000) < peer.loss_of_peer)
        return;
    memcpy(peer.frames[slot], frame, bytes);
    peer.frame_bytes[slot] = bytes;
    peer.last++;
}

static void put_ip(uint8_t *frame, unsigned protocol, size_t bytes)
{
    uint8_t *ip = frame + AT_IP;

    memcpy(frame, guest_mac, 6);
    memcpy(frame + 6, peer_mac, 6);
    put16(frame + AT_TYPE, 0x0800);
    memset(ip, 0, 20);
    ip[0] = 0x45;
    put16(ip + 2, (unsigned)(bytes - AT_IP));
    ip[8] = 64;
    ip[9] = (uint8_t)protocol;
    memcpy(ip + 12, peer_ip, 4);
    memcpy(ip + 16, guest_ip, 4);
    put16(ip + 10, checksum(sum_of(ip, 20)));
}

/* ---- ARP and DHCP ---- */

static void answer_arp(const uint8_t *frame)
{
    uint8_t reply[60] = {0};

    if (get16(frame + AT_ARP + 6) != 1 || memcmp(frame + AT_ARP + 24, peer_ip, 4) != 0)
        return;
    memcpy(reply, frame + 6, 6);
    memcpy(reply + 6, peer_mac, 6);
    memcpy(reply + AT_TYPE, frame + AT_TYPE, 10);
    put16(reply + AT_ARP + 6, 2);
    memcpy(reply + AT_ARP + 8, peer_mac, 6);
    memcpy(reply + AT_ARP + 14, peer_ip, 4);
    memcpy(reply + AT_ARP + 18, frame + AT_ARP + 8, 10);
    peer_send(reply, sizeof reply);
}

/* The value of a DHCP option of one byte; 0: not there. */
static uint8_t dhcp_option(const uint8_t *options, size_t count, uint8_t code)
{
    for (size_t i = 0; i + 2 < count && options[i] != 255;
         i += options[i] ? 2u + options[i + 1] : 1)
        if (options[i] == code)
            return options[i + 2];
    return 0;
}

static void answer_dhcp(const uint8_t *frame, size_t bytes)
{
    static const uint8_t options[] = {53, 1, 0, 54,  4,   10,  0, 2, 2, 51, 4, 0, 0, 14,
                                      16, 1, 4, 255, 255, 255, 0, 3, 4, 10, 0, 2, 2, 255};
    uint8_t reply[AT_OPTIONS + 60] = {0};
    uint8_t asked = dhcp_option(frame + AT_OPTIONS, bytes - AT_OPTIONS, 53);

    if (!peer.dhcp || (asked != 1 && asked != 3))
        return;
    put_ip(reply, 17, sizeof reply);
    put16(reply + AT_UDP, 67);
    put16(reply + AT_UDP + 2, 68);
    put16(reply + AT_UDP + 4, sizeof reply - AT_UDP);
    memcpy(reply + AT_BOOTP, frame + AT_BOOTP, 240); /* xid, chaddr, cookie */
    reply[AT_BOOTP] = 2;
    memcpy(reply + AT_BOOTP + 16, guest_ip, 4);
    memcpy(reply + AT_OPTIONS, options, sizeof options);
    reply[AT_OPTIONS + 2] = asked == 1 ? 2 : 5;
    put16(reply + AT_UDP + 6, transport_checksum(reply, sizeof reply));
    peer_send(reply, sizeof reply);
}

/* ---- TCP ---- */

static void send_segment(unsigned flags, uint32_t sequence, const uint8_t *bytes, size_t count)
{
    uint8_t frame[PEER_FRAME_BYTES];
    size_t header = flags & TCP_F_SYN ? 28 : 20, all = AT_TCP + header + count;
    uint8_t *tcp = frame + AT_TCP;

    memset(tcp, 0, header);
    put16(tcp, 4817);
    put16(tcp + 2, peer.guest_port);
    put32(tcp + 4, sequence);
    put32(tcp + 8, peer.receive_next);
    tcp[12] = (uint8_t)(header / 4 << 4);
    tcp[13] = (uint8_t)flags;
    put16(tcp + 14, flags & TCP_F_SYN ? (peer.first_window ? peer.first_window : 65535)
                                      : peer.window >> PEER_SCALE);
    if (flags & TCP_F_SYN) {
        put32(tcp + 20, 0x020405b4); /* segments of 1460 bytes */
        put32(tcp + 24, 0x01030300 | PEER_SCALE);
    }
    if (count)
        memcpy(tcp + header, bytes, count);
    put_ip(frame, 6, all);
    put16(tcp + 16, transport_checksum(frame, all));
    peer_send(frame, all);
}

static void send_data(void)
{
    while (peer.open && peer.send_next - peer.send_first < peer.out_used) {
        size_t at = peer.send_next - peer.send_first;
        size_t count = peer.out_used - at < 1460 ? peer.out_used - at : 1460;

        send_segment(TCP_F_ACK | TCP_F_PSH, peer.send_next, peer.out + at, count);
        peer.send_next += (uint32_t)count;
        peer.sent_ms = fake_ms();
    }
}

/* Says something over the connection. */
static void peer_say(const void *bytes, size_t count)
{
    assert_true(peer.out_used + count <= PEER_OUT_BYTES);
    memcpy(peer.out + peer.out_used, bytes, count);
    peer.out_used += count;
}

static void peer_reset(void)
{
    send_segment(TCP_F_RST | TCP_F_ACK, peer.send_next, NULL, 0);
    peer.open = false;
}

static void take_syn(uint32_t sequence)
{
    peer.receive_next = sequence + 1;
    peer.open = false;
    if (peer.refuses) {
        send_segment(TCP_F_RST | TCP_F_ACK, 0, NULL, 0);
        return;
    }
    peer.open = true;
    peer.out_used = 0;
    peer.send_first = peer.send_next = (uint32_t)test_random_next(&peer.random);
    send_segment(TCP_F_SYN | TCP_F_ACK, peer.send_first, NULL, 0);
    peer.send_first = ++peer.send_next;
    peer.connections++;
    peer_connected();
}

static void take_acknowledgement(uint32_t number)
{
    uint32_t count = number - peer.send_first;

    if (count == 0 || count > peer.out_used)
        return;
    memmove(peer.out, peer.out + count, peer.out_used - count);
    peer.out_used -= count;
    peer.send_first = number;
    if ((int32_t)(peer.send_next - number) < 0)
        peer.send_next = number;
}

static void take_tcp(const uint8_t *frame, size_t bytes)
{
    const uint8_t *tcp = frame + AT_TCP;
    uint32_t sequence = get32(tcp + 4);
    size_t header = (size_t)(tcp[12] >> 4) * 4, count = bytes - AT_TCP - header;

    assert_true(header >= 20 && AT_TCP + header <= bytes);
    assert_int_equal(transport_checksum(frame, bytes), 0);
    if (get16(tcp) != peer.guest_port && !(tcp[13] & TCP_F_SYN))
        return; /* of a connection before */
    peer.guest_port = (uint16_t)get16(tcp);
    if (tcp[13] & TCP_F_RST) {
        peer.open = false;
        peer.resets++;
        return;
    }
    if (tcp[13] & TCP_F_SYN) {
        take_syn(sequence);
        return;
    }
    if (!peer.open)
        return;
    take_acknowledgement(get32(tcp + 8));
    if (sequence == peer.receive_next && count) {
        peer.receive_next += (uint32_t)count;
        peer_input(tcp + header, count);
    }
    if (tcp[13] & TCP_F_FIN && sequence + count == peer.receive_next)
        peer.receive_next++;
    if (peer.open && (count || tcp[13] & TCP_F_FIN))
        send_segment(TCP_F_ACK, peer.send_next, NULL, 0);
    send_data();
}

/* A frame of the guest's. */
static void peer_receive(const uint8_t *frame, size_t bytes)
{
    if (peer.deaf || test_random_below(&peer.random, 1000) < peer.loss_of_guest)
        return;
    if (get16(frame + AT_TYPE) == 0x0806)
        answer_arp(frame);
    else if (frame[AT_IP + 9] == 6)
        take_tcp(frame, AT_IP + get16(frame + AT_IP + 2));
    else if (frame[AT_IP + 9] == 17 && get16(frame + AT_UDP + 2) == 67)
        answer_dhcp(frame, bytes);
}

/* Time has passed. */
static void peer_tick(void)
{
    if (peer.open && peer.send_next != peer.send_first && fake_ms() - peer.sent_ms > PEER_RETRY_MS)
        peer.send_next = peer.send_first;
    send_data();
}

#endif
