/* What guest/net's files need of the kernel, for tests: a card whose wire leads to fake_peer.h,
 * time that passes as it is looked at, a log.  Include once, before the files themselves.
 */
#ifndef TESTS_UNIT_GUEST_NET_FAKE_CARD_H
#define TESTS_UNIT_GUEST_NET_FAKE_CARD_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "drivers/net/net.h"
#include "drivers/platform.h"
#include "guest/base/log.h"
#include "guest/net/net_port.h"
#include "tests/unit/drivers/net/fake_cut.h"
#include "tests/unit/guest/net/fake_peer.h"

#define LOOKS_PER_MS 16

static struct {
    bool absent, unplugged, open;
    unsigned full; /* so many frames find no free descriptor */
    bool cuts; /* TCP segments */
    unsigned cut; /* frames that were */
    uint64_t looks; /* at the clock */
    char log[4096];
} fake;

static uint64_t fake_ms(void)
{
    return fake.looks / LOOKS_PER_MS;
}

uint64_t net_port_ms(void)
{
    fake.looks++;
    return fake_ms();
}

void net_port_pass(uint32_t)
{
}

uint32_t sys_now(void);
uint32_t sys_now(void)
{
    return (uint32_t)net_port_ms();
}

uint32_t net_port_random(void)
{
    return (uint32_t)test_random_next(&peer.random);
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
    static uint8_t memory[NET_LARGE_MAX];

    assert_in_range(bytes, 1, sizeof memory);
    return memory;
}

void log_line(const char *format, ...)
{
    size_t used = strlen(fake.log);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(fake.log + used, sizeof fake.log - used, format, arguments);
    va_end(arguments);
}

static bool card_link_up(struct net_device *net)
{
    (void)net;
    return !fake.unplugged;
}

static int card_send(struct net_device *net, const void *frame, size_t bytes)
{
    (void)net;
    assert_true(fake.open);
    assert_true(bytes >= 14 && bytes <= NET_FRAME_MAX);
    if (fake.full && test_random_below(&peer.random, fake.full) == 0)
        return -EAGAIN;
    if (!fake.unplugged)
        peer_receive(frame, bytes);
    return 0;
}

static bool card_cuts(struct net_device *net)
{
    (void)net;
    return fake.cuts;
}

static int card_send_large(struct net_device *net, const void *frame, size_t bytes, size_t segment)
{
    static uint8_t copy[NET_LARGE_MAX];
    struct fake_cut cut = {
        .ip = AT_IP, .tcp = AT_TCP, .header_bytes = AT_TCP + 20, .segment = segment};

    (void)net;
    assert_true(fake.open);
    assert_in_range(bytes, AT_TCP + 20 + segment + 1, sizeof copy);
    memcpy(copy, frame, bytes);
    assert_int_equal(copy[AT_TCP + 12] >> 4, 5);
    memset(copy + AT_IP + 10, 0, 2);
    put16(copy + AT_TCP + 16, ~checksum(6 + sum_of(copy + AT_IP + 12, 8)) & 0xffff);
    if (fake.full && test_random_below(&peer.random, fake.full) == 0)
        return -EAGAIN;
    if (!fake.unplugged)
        fake.cut += fake_cut(copy, bytes, &cut, peer_receive);
    return 0;
}

static void card_kick(struct net_device *net)
{
    (void)net;
}

static size_t card_receive(struct net_device *net, void *out, size_t room)
{
    (void)net;
    assert_true(fake.open);
    peer_tick();
    if (peer.first == peer.last)
        return 0;
    unsigned slot = peer.first++ % PEER_FRAMES;
    size_t bytes = peer.frame_bytes[slot];
    assert_true(bytes <= room);
    memcpy(out, peer.frames[slot], bytes);
    return fake.unplugged ? 0 : bytes;
}

static void card_close(struct net_device *net)
{
    (void)net;
    fake.open = false;
}

static const struct net_driver fake_driver = {
    .name = "fake",
    .link_up = card_link_up,
    .send = card_send,
    .cuts = card_cuts,
    .send_large = card_send_large,
    .kick = card_kick,
    .receive = card_receive,
    .close = card_close,
};

int net_open(struct net_device *net)
{
    if (fake.absent)
        return -ENODEV;
    *net = (struct net_device){.driver = &fake_driver};
    memcpy(net->mac, guest_mac, sizeof guest_mac);
    fake.open = true;
    return 0;
}

#endif
