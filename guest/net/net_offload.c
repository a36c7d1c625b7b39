#include "guest/net/net_offload.h"

#include <errno.h>
#include <lwip/pbuf.h>
#include <string.h>

#include "drivers/platform.h"

/* Offsets in a frame of lwIP's with TCP in it: neither header has options.  RFC 791, 3.1; RFC
 * 9293, 3.1 */
enum {
    OFF_IP = 14,
    OFF_IP_LENGTH = OFF_IP + 2,
    OFF_IP_FRAGMENT = OFF_IP + 6,
    OFF_IP_PROTOCOL = OFF_IP + 9,
    OFF_IP_SOURCE = OFF_IP + 12,
    OFF_TCP = OFF_IP + 20,
    OFF_SEQUENCE = OFF_TCP + 4,
    OFF_ACKNOWLEDGEMENT = OFF_TCP + 8,
    OFF_FLAGS = OFF_TCP + 13,
    OFF_WINDOW = OFF_TCP + 14,
    OFF_CHECKSUM = OFF_TCP + 16,
    HEADER_BYTES = OFF_TCP + 20,
};
#define PUSH 0x08
#define ACKNOWLEDGE 0x10

static struct {
    uint8_t *frame; /* room for NET_LARGE_MAX bytes */
    size_t bytes; /* 0: nothing waits */
    size_t segment; /* bytes of the stream in the first segment */
} waiting;

int net_offload_init(void)
{
    waiting.bytes = 0;
    if (waiting.frame == NULL)
        waiting.frame = platform_allocate(NET_LARGE_MAX);
    return waiting.frame != NULL ? 0 : -ENOMEM;
}

static uint32_t sequence_of(const uint8_t *headers)
{
    const uint8_t *at = headers + OFF_SEQUENCE;

    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Returns whether a segment carries nothing but a part of the stream. */
static bool is_plain(const struct pbuf *p)
{
    const uint8_t *h = p->payload;

    return p->len >= HEADER_BYTES && p->tot_len > HEADER_BYTES && p->tot_len <= NET_FRAME_MAX &&
           h[12] == 8 && h[13] == 0 && h[OFF_IP] == 0x45 && h[OFF_IP_PROTOCOL] == 6 &&
           (h[OFF_IP_LENGTH] << 8 | h[OFF_IP_LENGTH + 1]) == p->tot_len - OFF_IP &&
           h[OFF_TCP + 12] >> 4 == 5 && (h[OFF_FLAGS] & ~PUSH) == ACKNOWLEDGE;
}

static bool net_offload_same(const uint8_t *headers, unsigned begin, unsigned end)
{
    return memcmp(waiting.frame + begin, headers + begin, end - begin) == 0;
}

/* Returns whether the segment continues the waiting ones and differs from them only in fields that
 * the card rewrites.  All segments but the last have the same length. */
static bool can_join(const struct pbuf *p)
{
    const uint8_t *h = p->payload;
    size_t count_waiting = waiting.bytes - HEADER_BYTES, count = p->tot_len - HEADER_BYTES;

    return count_waiting % waiting.segment == 0 && count <= waiting.segment &&
           waiting.bytes + count <= NET_LARGE_MAX && !(waiting.frame[OFF_FLAGS] & PUSH) &&
           sequence_of(h) == sequence_of(waiting.frame) + (uint32_t)count_waiting &&
           net_offload_same(h, 0, OFF_IP_LENGTH) &&
           net_offload_same(h, OFF_IP_FRAGMENT, OFF_IP_PROTOCOL + 1) &&
           net_offload_same(h, OFF_IP_SOURCE, OFF_SEQUENCE) &&
           net_offload_same(h, OFF_ACKNOWLEDGEMENT, OFF_FLAGS) &&
           net_offload_same(h, OFF_WINDOW, OFF_CHECKSUM);
}

static void net_offload_join(const struct pbuf *p)
{
    const uint8_t *h = p->payload;

    waiting.frame[OFF_FLAGS] |= h[OFF_FLAGS] & PUSH;
    waiting.bytes += pbuf_copy_partial(p, waiting.frame + waiting.bytes,
                                       (u16_t)(p->tot_len - HEADER_BYTES), HEADER_BYTES);
}

int net_offload_flush(struct net_device *card)
{
    int status = 0;

    if (waiting.bytes > HEADER_BYTES + waiting.segment)
        status = card->driver->send_large(card, waiting.frame, waiting.bytes, waiting.segment);
    else if (waiting.bytes)
        status = card->driver->send(card, waiting.frame, waiting.bytes);
    if (status != -EAGAIN)
        waiting.bytes = 0;
    return status;
}

int net_offload_send(struct net_device *card, bool cuts, const struct pbuf *p)
{
    bool plain = cuts && is_plain(p);
    int status;

    if (p->tot_len > NET_FRAME_MAX)
        return -EMSGSIZE;
    if (waiting.bytes && plain && can_join(p)) {
        net_offload_join(p);
        return 0;
    }
    status = net_offload_flush(card);
    if (status == -EAGAIN)
        return status;
    if (plain) {
        waiting.segment = p->tot_len - HEADER_BYTES;
        waiting.bytes = pbuf_copy_partial(p, waiting.frame, p->tot_len, 0);
        return 0;
    }
    if (p->next == NULL)
        return card->driver->send(card, p->payload, p->tot_len);
    pbuf_copy_partial(p, waiting.frame, p->tot_len, 0);
    return card->driver->send(card, waiting.frame, p->tot_len);
}
