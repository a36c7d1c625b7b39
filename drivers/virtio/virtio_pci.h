/* The modern virtio-pci transport.  Virtual I/O Device Version 1.1, 4.1. */
#ifndef DRIVERS_VIRTIO_VIRTIO_PCI_H
#define DRIVERS_VIRTIO_VIRTIO_PCI_H

#include <stdint.h>

#include "drivers/pci/pci.h"
#include "drivers/virtio/virtqueue.h"

#define VIRTIO_PCI_VENDOR 0x1af4
#define VIRTIO_F_VERSION_1 (1ull << 32)

#define VIRTIO_PCI_NO_VECTOR 0xffff /* 4.1.5.1.2.1 */

struct virtio_pci { /* register areas, mapped; their sizes were checked against the BARs' */
    struct pci_device pci;
    volatile uint8_t *common;
    volatile uint8_t *device;
    volatile uint8_t *notify;
    uint64_t notify_bytes;
    uint32_t notify_multiplier;
    uint64_t features; /* negotiated */
    uint16_t vector; /* MSI-X table entry of the queues */
};

/* Switches the device on, maps its registers, resets it and negotiates `required` features (with
 * VIRTIO_F_VERSION_1) and those `wanted` ones that the device has.  It does not interrupt.
 * 0, -EIO, -ENOMEM.
 */
int virtio_pci_open(struct virtio_pci *virtio, const struct pci_device *device, uint64_t required,
                    uint64_t wanted);

/* Used buffers interrupt as MSI-X `vector`; between open and the first queue.  0, -EIO. */
int virtio_pci_interrupt(struct virtio_pci *virtio, uint8_t vector, uint32_t apic_id);

/* Allocates and enables queue `number`; between open and start.  0, -EIO, -ENOMEM. */
int virtio_pci_add_queue(struct virtio_pci *virtio, struct virtqueue *queue, uint16_t number);

/* DRIVER_OK: the device may use the queues.  virtio_pci_fail tells it that we gave up. */
void virtio_pci_start(struct virtio_pci *virtio);
void virtio_pci_fail(struct virtio_pci *virtio);

/* Resets the device and takes its access to memory away: it touches the queues no more. */
void virtio_pci_close(struct virtio_pci *virtio);

#endif
