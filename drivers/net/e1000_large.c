/* TCP segmentation offload: a context descriptor that says where the headers are, then the frame in
 * as many data descriptors as it takes.
 */
#include <errno.h>
#include <string.h>

#include "drivers/net/e1000.h"
#include "drivers/platform.h"

#define ETHERTYPE_IPV4 0x0800
#define PROTOCOL_TCP 6
/* Offsets in the headers: RFC 791, 3.1; RFC 9293, 3.1 */
#define IP_LENGTH 2
#define IP_PROTOCOL 9
#define IP_CHECKSUM 10
#define IP_ADDRESSES 12
#define TCP_DATA_OFFSET 12
#define TCP_CHECKSUM 16

struct headers {
    size_t ip, tcp, end; /* where they begin */
};

/* Not used at 10 and 100 Mb/s: Linux's driver avoids it there because of errata, and it gains
 * nothing. */
bool e1000_cuts(struct net_device *net)
{
    struct e1000 *e = net->state;

    return e->family->traits & E1000_CUTS && E1000_STATUS_SPEED(e1000_read(e, E1000_STATUS)) >= 2;
}

static bool find_headers(struct headers *headers, const uint8_t *frame, size_t bytes)
{
    size_t ip_bytes;

    headers->ip = NET_HEADER_BYTES;
    if (bytes < headers->ip + 40 || (frame[12] << 8 | frame[13]) != ETHERTYPE_IPV4)
        return false;
    ip_bytes = (frame[headers->ip] & 15u) * 4;
    headers->tcp = headers->ip + ip_bytes;
    if (ip_bytes < 20 || frame[headers->ip] >> 4 != 4 ||
        frame[headers->ip + IP_PROTOCOL] != PROTOCOL_TCP || bytes < headers->tcp + 20)
        return false;
    headers->end = headers->tcp + (frame[headers->tcp + TCP_DATA_OFFSET] >> 4) * 4u;
    return headers->end >= headers->tcp + 20 && headers->end < bytes;
}

/* Sets the fields as the device expects: no length, and for TCP's pseudo header the sum without the
 * length, which the device adds for each segment. */
static void prepare_headers(uint8_t *frame, const struct headers *headers)
{
    uint32_t sum = PROTOCOL_TCP;

    memset(frame + headers->ip + IP_LENGTH, 0, 2);
    memset(frame + headers->ip + IP_CHECKSUM, 0, 2);
    for (size_t at = IP_ADDRESSES; at < IP_ADDRESSES + 8; at += 2)
        sum += (uint32_t)frame[headers->ip + at] << 8 | frame[headers->ip + at + 1];
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    frame[headers->tcp + TCP_CHECKSUM] = (uint8_t)(sum >> 8);
    frame[headers->tcp + TCP_CHECKSUM + 1] = (uint8_t)sum;
}

static void put_context(struct e1000_transmit *descriptor, const struct headers *headers,
                        size_t payload, size_t segment)
{
    struct e1000_context context = {
        .ip_start = (uint8_t)headers->ip,
        .ip_checksum = (uint8_t)(headers->ip + IP_CHECKSUM),
        .ip_last = (uint16_t)(headers->tcp - 1),
        .tcp_start = (uint8_t)headers->tcp,
        .tcp_checksum = (uint8_t)(headers->tcp + TCP_CHECKSUM),
        .payload_and_command = (uint32_t)payload | E1000_CONTEXT_TCP | E1000_CONTEXT_IPV4 |
                               E1000_CONTEXT_CUT | E1000_CONTEXT_EXTENDED,
        .header_bytes = (uint8_t)headers->end,
        .segment = (uint16_t)segment,
    };

    memcpy(descriptor, &context, sizeof context);
}

/* Puts the frame into the buffers of the descriptors from `at` on.  Returns the one after the last.
 */
static unsigned put_data(struct e1000 *e, unsigned at, const uint8_t *frame, size_t bytes,
                         const struct headers *headers)
{
    bool first = true;

    while (bytes) {
        uint8_t *buffer = e->transmit_buffers + at * E1000_BUFFER_BYTES;
        size_t part = bytes < E1000_BUFFER_BYTES ? bytes : E1000_BUFFER_BYTES;

        memcpy(buffer, frame, part);
        if (first)
            prepare_headers(buffer, headers);
        first = false;
        frame += part;
        bytes -= part;
        e->transmits[at] = (struct e1000_transmit){
            .address = platform_physical_address(buffer),
            .bytes = (uint16_t)part,
            .checksum_offset = E1000_TRANSMIT_TYPE_DATA,
            .command =
                (uint8_t)(E1000_TRANSMIT_EXTENDED | E1000_TRANSMIT_CUT | E1000_TRANSMIT_CHECKSUM |
                          (bytes ? 0 : E1000_TRANSMIT_END | E1000_TRANSMIT_REPORT)),
            .checksum_start = E1000_TRANSMIT_SUM_IP | E1000_TRANSMIT_SUM_TCP};
        at = e1000_after(at);
    }
    return at;
}

int e1000_send_large(struct net_device *net, const void *frame, size_t bytes, size_t segment)
{
    struct e1000 *e = net->state;
    struct headers headers;
    size_t buffers;
    int status;

    if (bytes > NET_LARGE_MAX || !segment || !find_headers(&headers, frame, bytes) ||
        segment > NET_FRAME_MAX - headers.end)
        return -EMSGSIZE;
    buffers = (bytes + E1000_BUFFER_BYTES - 1) / E1000_BUFFER_BYTES;
    status = e1000_make_room(net, 1 + (unsigned)buffers);
    if (status)
        return status;
    put_context(&e->transmits[e->transmit_next], &headers, bytes - headers.end, segment);
    e1000_add_frame(net, put_data(e, e1000_after(e->transmit_next), frame, bytes, &headers));
    return 0;
}
