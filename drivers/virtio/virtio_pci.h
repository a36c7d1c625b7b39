/* The modern virtio-pci transport.  Virtual I/O Device Version 1.1, 4.1.  Boot only. */
#ifndef DRIVERS_VIRTIO_VIRTIO_PCI_H
#define DRIVERS_VIRTIO_VIRTIO_PCI_H

#include <stdint.h>

#include "drivers/pci/pci.h"
#include "drivers/virtio/virtqueue.h"

#define VIRTIO_PCI_VENDOR 0x1af4
#define VIRTIO_F_VERSION_1 (1ull << 32)

struct virtio_pci { /* register areas, mapped; their sizes were checked against the BARs' */
    volatile uint8_t *common;
    volatile uint8_t *device;
    volatile uint8_t *notify;
    uint64_t notify_bytes;
    uint32_t notify_multiplier;
};

/* Switches the device on, maps its registers, resets it and negotiates exactly `features` (with
 * VIRTIO_F_VERSION_1).  Used buffers interrupt as MSI-X `vector`.  0, -EIO, -ENOMEM.
 */
int virtio_pci_open(struct virtio_pci *virtio, const struct pci_device *device, uint64_t features,
                    uint8_t vector, uint32_t apic_id);

/* Allocates and enables queue `number`; between open and start.  0, -EIO, -ENOMEM. */
int virtio_pci_add_queue(struct virtio_pci *virtio, struct virtqueue *queue, uint16_t number);

/* DRIVER_OK: the device may use the queues.  virtio_pci_fail tells it that we gave up. */
void virtio_pci_start(struct virtio_pci *virtio);
void virtio_pci_fail(struct virtio_pci *virtio);

#endif
