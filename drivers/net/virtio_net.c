/* virtio-net: one pair of queues, no offloads.  Virtual I/O Device Version 1.1, 5.1. */
#include "drivers/net/drivers.h"

#include <errno.h>
#include <string.h>

#include "drivers/mmio.h"
#include "drivers/platform.h"
#include "drivers/virtio/virtio_pci.h"
#include "drivers/virtio/virtqueue.h"
#include "lib/array.h"

enum { /* 5.1.2 and 5.1.4 */
       QUEUE_RECEIVE = 0,
       QUEUE_TRANSMIT = 1,
       FEATURE_MAC = 1 << 5,
       FEATURE_STATUS = 1 << 16,
       CONFIG_MAC = 0,
       CONFIG_STATUS = 6,
       STATUS_LINK_UP = 1,
};

#define HEADER_BYTES 12 /* 5.1.6: with num_buffers, as VERSION_1 has it; all 0 without offloads */
#define BUFFER_BYTES 2048 /* header and frame; at least 1526: 5.1.6.3.1 */
#define RECEIVE_MAX 256
#define TRANSMIT_MAX 256
#define TELL_AFTER 32 /* buffers that went back to the device */

struct virtio_net {
    struct virtio_pci virtio;
    struct virtqueue receive;
    struct virtqueue transmit;
    uint8_t *receive_buffers; /* one after the other; a buffer's number is its descriptor's */
    uint8_t *transmit_buffers;
    uint16_t free[TRANSMIT_MAX]; /* descriptors of transmit that are not under way */
    unsigned free_count;
    unsigned untold; /* receive buffers that the device was not told about */
};
_Static_assert(RECEIVE_MAX <= VIRTQUEUE_SIZE_MAX && TRANSMIT_MAX <= VIRTQUEUE_SIZE_MAX,
               "a buffer for every descriptor");

/* Modern, transitional: 4.1.2.1. */
static const uint16_t device_ids[] = {0x1041, 0x1000};

static uint8_t *buffer_of(uint8_t *buffers, uint16_t id)
{
    return buffers + (size_t)id * BUFFER_BYTES;
}

static void post_receive(struct virtio_net *v, uint16_t id)
{
    virtqueue_post(&v->receive, id, buffer_of(v->receive_buffers, id), BUFFER_BYTES, true);
}

static int set_up_queues(struct virtio_net *v)
{
    int error = virtio_pci_add_queue(&v->virtio, &v->receive, QUEUE_RECEIVE);

    if (!error)
        error = virtio_pci_add_queue(&v->virtio, &v->transmit, QUEUE_TRANSMIT);
    if (error)
        return error;
    v->receive_buffers = platform_allocate((size_t)v->receive.size * BUFFER_BYTES);
    v->transmit_buffers = platform_allocate((size_t)v->transmit.size * BUFFER_BYTES);
    if (v->receive_buffers == NULL || v->transmit_buffers == NULL)
        return -ENOMEM;
    virtqueue_interrupts(&v->receive, false);
    virtqueue_interrupts(&v->transmit, false);
    for (uint16_t id = 0; id < v->receive.size; id++)
        post_receive(v, id);
    for (uint16_t id = 0; id < v->transmit.size; id++)
        v->free[v->free_count++] = id;
    return 0;
}

static void read_mac(struct net_device *net, const struct virtio_net *v)
{
    for (unsigned i = 0; i < NET_MAC_BYTES; i++)
        net->mac[i] = mmio_read8(v->virtio.device + CONFIG_MAC + i);
}

static int open_device(struct net_device *net, const struct pci_device *pci)
{
    struct virtio_net *v = platform_allocate(sizeof *v);
    int error;

    if (v == NULL)
        return -ENOMEM;
    net->state = v;
    error = virtio_pci_open(&v->virtio, pci, FEATURE_MAC, FEATURE_STATUS);
    if (error) {
        pci_stop_mastering(pci);
        return error;
    }
    read_mac(net, v);
    error = net_mac_valid(net->mac) ? set_up_queues(v) : -EIO;
    if (error) {
        virtio_pci_close(&v->virtio);
        return error;
    }
    virtio_pci_start(&v->virtio);
    virtqueue_notify(&v->receive);
    return 0;
}

static bool link_up(struct net_device *net)
{
    const struct virtio_net *v = net->state;

    if (v->receive.broken || v->transmit.broken)
        return false;
    return !(v->virtio.features & FEATURE_STATUS) ||
           mmio_read16(v->virtio.device + CONFIG_STATUS) & STATUS_LINK_UP;
}

static void virtio_net_reclaim(struct virtio_net *v)
{
    uint16_t id;
    uint32_t bytes;

    while (virtqueue_take(&v->transmit, &id, &bytes) > 0)
        v->free[v->free_count++] = id;
}

static int virtio_net_send(struct net_device *net, const void *frame, size_t bytes)
{
    struct virtio_net *v = net->state;
    uint16_t id;
    uint8_t *buffer;

    if (bytes > NET_FRAME_MAX)
        return -EMSGSIZE;
    virtio_net_reclaim(v);
    if (v->transmit.broken || v->receive.broken)
        return -EIO;
    if (v->free_count == 0)
        return -EAGAIN;
    id = v->free[--v->free_count];
    buffer = buffer_of(v->transmit_buffers, id); /* its header stays 0 */
    memcpy(buffer + HEADER_BYTES, frame, bytes);
    virtqueue_post(&v->transmit, id, buffer, (uint32_t)(HEADER_BYTES + bytes), false);
    net->frames_sent++;
    return 0;
}

static void virtio_net_kick(struct net_device *net)
{
    struct virtio_net *v = net->state;

    if (!v->transmit.broken)
        virtqueue_notify(&v->transmit);
}

static void tell_about_buffers(struct virtio_net *v)
{
    if (v->untold)
        virtqueue_notify(&v->receive);
    v->untold = 0;
}

/* Returns the bytes that the device put into the buffer; 0: nothing usable. */
static size_t copy_frame(struct virtio_net *v, uint16_t id, uint32_t bytes, void *out, size_t room)
{
    const uint8_t *buffer = buffer_of(v->receive_buffers, id);

    if (bytes < HEADER_BYTES + NET_HEADER_BYTES || bytes - HEADER_BYTES > room)
        return 0;
    memcpy(out, buffer + HEADER_BYTES, bytes - HEADER_BYTES);
    return bytes - HEADER_BYTES;
}

static size_t virtio_net_receive(struct net_device *net, void *out, size_t room)
{
    struct virtio_net *v = net->state;
    size_t got = 0;
    uint16_t id;
    uint32_t bytes;

    /* A bound: a device that only has damaged frames does not keep the caller. */
    for (unsigned i = 0; i < v->receive.size && got == 0; i++) {
        if (virtqueue_take(&v->receive, &id, &bytes) <= 0) {
            tell_about_buffers(v);
            return 0;
        }
        got = copy_frame(v, id, bytes, out, room);
        net->frames_received += got != 0;
        net->frames_dropped += got == 0;
        post_receive(v, id);
        if (++v->untold >= TELL_AFTER)
            tell_about_buffers(v);
    }
    return got;
}

static void close_device(struct net_device *net)
{
    struct virtio_net *v = net->state;

    virtio_pci_close(&v->virtio);
}

const struct net_driver virtio_net_driver = {
    .name = "virtio-net",
    .vendor_id = VIRTIO_PCI_VENDOR,
    .device_ids = device_ids,
    .device_id_count = ARRAY_COUNT(device_ids),
    .open = open_device,
    .link_up = link_up,
    .send = virtio_net_send,
    .kick = virtio_net_kick,
    .receive = virtio_net_receive,
    .close = close_device,
};
