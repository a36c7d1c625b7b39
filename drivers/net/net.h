/* Network interfaces: Ethernet frames in and out, polled, without interrupts.
 * Only the CPU that does service work calls these.  A driver checks all that its device says.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drivers/pci/pci.h"

#define NET_MAC_BYTES 6
#define NET_FRAME_MAX 1514 /* bytes of a frame without its checksum, which the device adds */
#define NET_LARGE_MAX 32768 /* of one that the device cuts */

struct net_device;

struct net_driver {
    const char *name;
    uint16_t vendor_id;
    const uint16_t *device_ids;
    size_t device_id_count;
    const void *variant; /* the driver's own: what sets these devices apart from its others */

    /* Resets the device, allocates rings (platform_allocate), reads the MAC and starts the device.
     * Returns 0, -ENOMEM, or -EIO if the device does not answer as its data sheet says. */
    int (*open)(struct net_device *net, const struct pci_device *pci);

    bool (*link_up)(struct net_device *net);

    /* Copies the frame into a free descriptor.  Returns 0, -EAGAIN if there is none, -EMSGSIZE, or
     * -EIO if the device broke the rules and is no longer used. */
    int (*send)(struct net_device *net, const void *frame, size_t bytes);

    /* TCP segmentation offload; both NULL if the device has none.  Returns whether to use it now.
     */
    bool (*cuts)(struct net_device *net);

    /* As send, for a frame of TCP over IPv4 of up to NET_LARGE_MAX bytes: it leaves as frames with
     * `segment` bytes of the stream each, the last with the rest.  The device makes their lengths,
     * sequence numbers and checksums; those of the frame do not matter.  Returns -EMSGSIZE also if
     * it is no such frame. */
    int (*send_large)(struct net_device *net, const void *frame, size_t bytes, size_t segment);

    /* Tells the device about the frames sent since the last call. */
    void (*kick)(struct net_device *net);

    /* Copies the next received frame into `out`.  Returns its bytes, or 0 if there is none.  Drops
     * and counts damaged frames and those that do not fit into `room`. */
    size_t (*receive)(struct net_device *net, void *out, size_t room);

    /* Resets the device and switches bus mastering off, so that it no longer touches memory. Frames
     * that have not left are lost. */
    void (*close)(struct net_device *net);
};

struct net_device {
    const struct net_driver *driver;
    void *state; /* the driver's own */
    uint8_t mac[NET_MAC_BYTES];
    uint64_t frames_sent, frames_received, frames_dropped;
};

/* Opens the first network interface that a driver knows, in the order of the bus, preferring one
 * whose link is up: with several, waits some seconds for a link.  Logs what was found.  Returns 0,
 * -ENODEV if there is none, or -EIO or -ENOMEM if none works.  Context: after clock_find. */
int net_open(struct net_device *net);
