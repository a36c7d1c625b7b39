/* The modern virtio-pci transport.  Virtual I/O Device Version 1.1, 4.1. */
#pragma once

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
    uint16_t queues; /* that the device has */
    uint16_t vector; /* MSI-X table entry of the queues */
};

/* Switches the device on, maps its registers, resets it and negotiates `required` features (with
 * VIRTIO_F_VERSION_1) and those `wanted` ones that the device has.  The device does not interrupt
 * yet.  Returns 0, -EIO or -ENOMEM. */
int virtio_pci_open(struct virtio_pci *virtio, const struct pci_device *device, uint64_t required,
                    uint64_t wanted);

/* Has used buffers interrupt as MSI-X `vector`; called between open and the first queue.  Returns 0
 * or -EIO. */
int virtio_pci_interrupt(struct virtio_pci *virtio, uint8_t vector, uint32_t apic_id);

/* Allocates and enables queue `number`; called between open and start.  Returns 0, -EIO or -ENOMEM.
 */
int virtio_pci_add_queue(struct virtio_pci *virtio, struct virtqueue *queue, uint16_t number);

/* Sets DRIVER_OK: the device may use the queues.  virtio_pci_fail tells it that the driver gave up.
 */
void virtio_pci_start(struct virtio_pci *virtio);
void virtio_pci_fail(struct virtio_pci *virtio);

/* Resets the device and takes its access to memory away, so that it no longer touches the queues.
 */
void virtio_pci_close(struct virtio_pci *virtio);
