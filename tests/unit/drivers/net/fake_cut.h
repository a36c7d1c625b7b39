/* What a network card does that cuts TCP segments, for fakes of such cards.  The frame is as the
 * data sheets of Intel's controllers want it: of TCP's checksum the sum of the pseudo header
 * without its length, which is checked by that the frames' checksums come out right.
 */
#ifndef TESTS_UNIT_DRIVERS_NET_FAKE_CUT_H
#define TESTS_UNIT_DRIVERS_NET_FAKE_CUT_H

#include <string.h>

#include "tests/unit/test.h"

struct fake_cut {
    size_t ip, tcp, header_bytes; /* where the headers begin, and where they end */
    size_t segment; /* bytes of payload in each frame */
};

static void fake_cut_put(uint8_t *at, unsigned value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static uint32_t fake_cut_sum(const uint8_t *bytes, size_t count)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += (uint32_t)bytes[i] << (i & 1 ? 0 : 8);
    return sum;
}

static unsigned fake_cut_fold(uint32_t sum)
{
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return ~sum & 0xffff;
}

/* One frame: `count` bytes of payload from `at` on, in `out` behind the headers. */
static void fake_cut_head(uint8_t *out, const struct fake_cut *cut, size_t at, size_t count,
                          unsigned number, bool last)
{
    uint8_t *ip = out + cut->ip, *tcp = out + cut->tcp;
    size_t tcp_bytes = cut->header_bytes - cut->tcp + count;
    uint32_t sequence =
        ((uint32_t)tcp[4] << 24 | (uint32_t)tcp[5] << 16 | (uint32_t)tcp[6] << 8 | tcp[7]) +
        (uint32_t)at;

    fake_cut_put(ip + 2, (unsigned)(cut->header_bytes - cut->ip + count));
    fake_cut_put(ip + 4, ((unsigned)ip[4] << 8 | ip[5]) + number);
    fake_cut_put(ip + 10, fake_cut_fold(fake_cut_sum(ip, cut->tcp - cut->ip)));
    fake_cut_put(tcp + 4, sequence >> 16);
    fake_cut_put(tcp + 6, sequence & 0xffff);
    if (!last)
        tcp[13] &= (uint8_t)~9u; /* FIN, PSH */
    fake_cut_put(tcp + 16, fake_cut_fold(fake_cut_sum(tcp, tcp_bytes) + (uint32_t)tcp_bytes));
}

/* The frames go to `out`, one after the other.  Their number. */
static unsigned fake_cut(const uint8_t *frame, size_t bytes, const struct fake_cut *cut,
                         void (*out)(const uint8_t *frame, size_t bytes))
{
    uint8_t one[2048];
    unsigned number = 0;

    assert_in_range(cut->header_bytes + cut->segment, 1, 1514);
    assert_true(bytes > cut->header_bytes);
    for (size_t at = cut->header_bytes; at < bytes; at += cut->segment) {
        size_t count = bytes - at < cut->segment ? bytes - at : cut->segment;

        memcpy(one, frame, cut->header_bytes);
        memcpy(one + cut->header_bytes, frame + at, count);
        fake_cut_head(one, cut, at - cut->header_bytes, count, number++, at + count == bytes);
        out(one, cut->header_bytes + count);
    }
    return number;
}

#endif
