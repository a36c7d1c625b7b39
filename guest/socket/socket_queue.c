/* Packets in queues, and their memory. */
#include "guest/socket/socket_queue.h"

#include <errno.h>
#include <string.h>

#include "guest/base/context.h"
#include "guest/memory/heap.h"
#include "guest/memory/phys.h"
#include "guest/socket/socket_rights.h"

#define SMALL_BYTES 208u /* a size of the heap's */
#define HEAP_MAX 2032u /* its largest */
#define KEPT_PART 64u /* this part of memory is not for sockets */
#define SCARCE_PART 16u

static uint64_t memory; /* of all packets */

bool socket_queue_scarce(void)
{
    return memory > phys_total_bytes() / SCARCE_PART;
}

static void *queue_alloc(uint32_t bytes)
{
    unsigned order = phys_order(bytes);
    uint64_t block;

    if (bytes <= HEAP_MAX)
        return heap_alloc(bytes);
    if (order > PHYS_ORDER_MAX || phys_free_bytes() < phys_total_bytes() / KEPT_PART)
        return NULL;
    block = phys_alloc(order);
    return block ? phys_pointer(block) : NULL;
}

struct socket_packet *socket_packet_new(uint32_t bytes, bool stream)
{
    uint32_t all = bytes + (uint32_t)sizeof(struct socket_packet);
    struct socket_packet *packet;

    cross_assert_held();
    if (stream)
        all = all <= SMALL_BYTES ? SMALL_BYTES : PAGE_BYTES;
    packet = queue_alloc(all);
    if (packet == NULL)
        return NULL;
    memory += all;
    *packet = (struct socket_packet){.size = all - (uint32_t)sizeof *packet, .whole = !stream};
    return packet;
}

void socket_packet_free(struct socket_packet *packet)
{
    uint32_t all = packet->size + (uint32_t)sizeof *packet;
    struct socket_rights rights = packet->rights;

    cross_assert_held();
    memory -= all;
    if (all <= HEAP_MAX)
        heap_free(packet, all);
    else
        phys_free((uint64_t)packet - DIRECT_MAP, phys_order(all));
    if (rights.count)
        socket_rights_drop(&rights);
}

void socket_queue_add(struct socket_queue *q, struct socket_packet *packet)
{
    packet->next = NULL;
    if (q->last != NULL)
        q->last->next = packet;
    else
        q->first = packet;
    q->last = packet;
    q->packets++;
    q->bytes += packet->end - packet->start;
}

struct socket_packet *socket_queue_take(struct socket_queue *q)
{
    struct socket_packet *packet = q->first;

    if (packet == NULL)
        return NULL;
    q->first = packet->next;
    if (q->first == NULL)
        q->last = NULL;
    q->packets--;
    q->bytes -= packet->end - packet->start;
    return packet;
}

int socket_queue_put(struct socket_queue *q, const uint8_t *from, uint32_t bytes)
{
    while (bytes) {
        struct socket_packet *packet = q->last;
        uint32_t part;

        if (packet == NULL || packet->whole || packet->end == packet->size) {
            packet = socket_packet_new(bytes, true);
            if (packet == NULL)
                return -ENOBUFS;
            socket_queue_add(q, packet);
        }
        part = packet->size - packet->end < bytes ? packet->size - packet->end : bytes;
        memcpy(packet->data + packet->end, from, part);
        packet->end += part;
        q->bytes += part;
        from += part;
        bytes -= part;
    }
    return 0;
}

void socket_queue_get(struct socket_queue *q, uint8_t *to, uint32_t bytes)
{
    while (bytes) {
        struct socket_packet *packet = q->first;
        uint32_t part = packet->end - packet->start < bytes ? packet->end - packet->start : bytes;

        memcpy(to, packet->data + packet->start, part);
        to += part;
        bytes -= part;
        packet->start += part;
        q->bytes -= part;
        if (packet->start == packet->end)
            socket_packet_free(socket_queue_take(q));
    }
}

static void unlink_packet(struct socket_queue *q, struct socket_packet *packet,
                          struct socket_packet *before)
{
    if (before != NULL)
        before->next = packet->next;
    else
        q->first = packet->next;
    if (q->last == packet)
        q->last = before;
    q->packets--;
}

void socket_queue_drop(struct socket_queue *q, uint32_t ahead)
{
    struct socket_packet *packet = q->first, *before = NULL;

    cross_assert_held();
    while (ahead >= packet->end - packet->start) {
        ahead -= packet->end - packet->start;
        before = packet;
        packet = packet->next;
    }
    memmove(packet->data + packet->start + 1, packet->data + packet->start, ahead);
    packet->start++;
    q->bytes--;
    if (packet->start != packet->end)
        return;
    unlink_packet(q, packet, before);
    socket_packet_free(packet);
}
