/* The modern virtio-pci transport: capabilities, feature negotiation, queues. */
#include "drivers/virtio/virtio_pci.h"

#include <errno.h>

#include "drivers/mmio.h"
#include "drivers/platform.h"
#include "lib/x86.h"

/* 4.1.4, struct virtio_pci_cap */
enum {
    CAPABILITY_TYPE = 3,
    CAPABILITY_BAR = 4,
    CAPABILITY_OFFSET = 8,
    CAPABILITY_LENGTH = 12,
    CAPABILITY_NOTIFY_MULTIPLIER = 16,
    TYPE_COMMON = 1,
    TYPE_NOTIFY = 2,
    TYPE_DEVICE = 4,
};

/* 4.1.4.3, struct virtio_pci_common_cfg */
enum {
    COMMON_DEVICE_FEATURE_SELECT = 0x00,
    COMMON_DEVICE_FEATURE = 0x04,
    COMMON_DRIVER_FEATURE_SELECT = 0x08,
    COMMON_DRIVER_FEATURE = 0x0c,
    COMMON_MSIX_CONFIG = 0x10,
    COMMON_NUM_QUEUES = 0x12,
    COMMON_STATUS = 0x14,
    COMMON_QUEUE_SELECT = 0x16,
    COMMON_QUEUE_SIZE = 0x18,
    COMMON_QUEUE_MSIX_VECTOR = 0x1a,
    COMMON_QUEUE_ENABLE = 0x1c,
    COMMON_QUEUE_NOTIFY_OFFSET = 0x1e,
    COMMON_QUEUE_DESCRIPTORS = 0x20,
    COMMON_QUEUE_AVAILABLE = 0x28,
    COMMON_QUEUE_USED = 0x30,
    COMMON_BYTES = 0x38,
};

/* 2.1 */
enum {
    STATUS_ACKNOWLEDGE = 1,
    STATUS_DRIVER = 2,
    STATUS_DRIVER_OK = 4,
    STATUS_FEATURES_OK = 8,
    STATUS_FAILED = 128,
};

#define RESET_POLLS 1000000

struct area {
    volatile uint8_t *registers; /* NULL: not found */
    uint64_t bytes;
    uint8_t capability;
};

struct memory_bar { /* the last one that was looked at: sizing takes a dozen accesses */
    uint8_t index;
    bool known;
    uint64_t base, bytes;
};

/* Maps what the capability at `at` describes, if it lies within its BAR. */
static void map_area(const struct pci_device *device, uint8_t at, struct memory_bar *bar,
                     struct area *area)
{
    uint32_t offset = pci_read32(device, (uint8_t)(at + CAPABILITY_OFFSET));
    uint32_t bytes = pci_read32(device, (uint8_t)(at + CAPABILITY_LENGTH));
    uint8_t index = pci_read8(device, (uint8_t)(at + CAPABILITY_BAR));

    if (!bar->known || bar->index != index) {
        *bar = (struct memory_bar){.index = index};
        bar->known = pci_bar(device, index, &bar->base, &bar->bytes) == 0;
    }
    if (!bar->known || offset > bar->bytes || bytes > bar->bytes - offset || bytes == 0)
        return;
    *area = (struct area){platform_map_device(bar->base + offset, bytes), bytes, at};
}

/* The first usable capability of a type counts: 4.1.4.1. */
static int map_registers(struct virtio_pci *virtio, const struct pci_device *device)
{
    struct area areas[TYPE_DEVICE + 1] = {0};
    struct memory_bar bar = {0};
    uint8_t at = 0;

    for (unsigned i = 0; i < PCI_CAPABILITIES_MAX; i++) {
        uint8_t type;

        at = pci_capability(device, PCI_CAPABILITY_VENDOR, at);
        if (at == 0)
            break;
        type = pci_read8(device, (uint8_t)(at + CAPABILITY_TYPE));

        if ((type == TYPE_COMMON || type == TYPE_NOTIFY || type == TYPE_DEVICE) &&
            areas[type].registers == NULL)
            map_area(device, at, &bar, &areas[type]);
    }
    if (areas[TYPE_NOTIFY].bytes == 0 || areas[TYPE_COMMON].bytes < COMMON_BYTES ||
        areas[TYPE_DEVICE].bytes < 8)
        return -EIO;
    virtio->common = areas[TYPE_COMMON].registers;
    virtio->device = areas[TYPE_DEVICE].registers;
    virtio->notify = areas[TYPE_NOTIFY].registers;
    virtio->notify_bytes = areas[TYPE_NOTIFY].bytes;
    virtio->notify_multiplier =
        pci_read32(device, (uint8_t)(areas[TYPE_NOTIFY].capability + CAPABILITY_NOTIFY_MULTIPLIER));
    return 0;
}

static void add_status(struct virtio_pci *virtio, uint8_t bits)
{
    uint8_t status = mmio_read8(virtio->common + COMMON_STATUS);
    mmio_write8(virtio->common + COMMON_STATUS, status | bits);
}

static int virtio_pci_reset(struct virtio_pci *virtio)
{
    mmio_write8(virtio->common + COMMON_STATUS, 0);
    for (unsigned polls = 0; polls < RESET_POLLS; polls++) {
        if (mmio_read8(virtio->common + COMMON_STATUS) == 0)
            return 0;
        x86_pause();
    }
    return -EIO;
}

static uint64_t offered_features(struct virtio_pci *virtio)
{
    uint64_t features;

    mmio_write32(virtio->common + COMMON_DEVICE_FEATURE_SELECT, 0);
    features = mmio_read32(virtio->common + COMMON_DEVICE_FEATURE);
    mmio_write32(virtio->common + COMMON_DEVICE_FEATURE_SELECT, 1);
    return features | (uint64_t)mmio_read32(virtio->common + COMMON_DEVICE_FEATURE) << 32;
}

static int negotiate(struct virtio_pci *virtio, uint64_t required, uint64_t wanted)
{
    uint64_t features = offered_features(virtio) & (required | wanted);

    if ((features & required) != required)
        return -EIO;
    mmio_write32(virtio->common + COMMON_DRIVER_FEATURE_SELECT, 0);
    mmio_write32(virtio->common + COMMON_DRIVER_FEATURE, (uint32_t)features);
    mmio_write32(virtio->common + COMMON_DRIVER_FEATURE_SELECT, 1);
    mmio_write32(virtio->common + COMMON_DRIVER_FEATURE, (uint32_t)(features >> 32));
    add_status(virtio, STATUS_FEATURES_OK);
    virtio->features = features;
    return mmio_read8(virtio->common + COMMON_STATUS) & STATUS_FEATURES_OK ? 0 : -EIO;
}

int virtio_pci_open(struct virtio_pci *virtio, const struct pci_device *device, uint64_t required,
                    uint64_t wanted)
{
    int error = pci_enable(device);

    if (error)
        return error;
    *virtio = (struct virtio_pci){.pci = *device, .vector = VIRTIO_PCI_NO_VECTOR};
    error = map_registers(virtio, device);
    if (!error)
        error = virtio_pci_reset(virtio);
    if (error)
        return error;
    add_status(virtio, STATUS_ACKNOWLEDGE);
    add_status(virtio, STATUS_DRIVER);
    error = negotiate(virtio, required | VIRTIO_F_VERSION_1, wanted);
    if (error)
        virtio_pci_fail(virtio);
    else
        mmio_write16(virtio->common + COMMON_MSIX_CONFIG, VIRTIO_PCI_NO_VECTOR);
    virtio->queues = mmio_read16(virtio->common + COMMON_NUM_QUEUES);
    return error;
}

int virtio_pci_interrupt(struct virtio_pci *virtio, uint8_t vector, uint32_t apic_id)
{
    if (pci_msix_enable(&virtio->pci, vector, apic_id))
        return -EIO;
    virtio->vector = 0; /* the only entry that is unmasked */
    return 0;
}

int virtio_pci_add_queue(struct virtio_pci *virtio, struct virtqueue *queue, uint16_t number)
{
    volatile uint8_t *common = virtio->common;
    uint16_t size;
    uint64_t notify_offset;
    int error;

    mmio_write16(common + COMMON_QUEUE_SELECT, number);
    size = mmio_read16(common + COMMON_QUEUE_SIZE);
    if (size == 0 || (size & (size - 1)) != 0 || number >= virtio->queues)
        return -EIO;
    size = size < VIRTQUEUE_SIZE_MAX ? size : VIRTQUEUE_SIZE_MAX;
    mmio_write16(common + COMMON_QUEUE_SIZE, size);
    notify_offset =
        (uint64_t)mmio_read16(common + COMMON_QUEUE_NOTIFY_OFFSET) * virtio->notify_multiplier;
    if (notify_offset + 2 > virtio->notify_bytes)
        return -EIO;
    error = virtqueue_init(queue, number, size);
    if (error)
        return error;
    queue->notify_register = virtio->notify + notify_offset;
    mmio_write64(common + COMMON_QUEUE_DESCRIPTORS, platform_physical_address(queue->descriptors));
    mmio_write64(common + COMMON_QUEUE_AVAILABLE, platform_physical_address(queue->available));
    mmio_write64(common + COMMON_QUEUE_USED, platform_physical_address(queue->used));
    mmio_write16(common + COMMON_QUEUE_MSIX_VECTOR, virtio->vector);
    if (mmio_read16(common + COMMON_QUEUE_MSIX_VECTOR) != virtio->vector)
        return -EIO;
    mmio_write16(common + COMMON_QUEUE_ENABLE, 1);
    return 0;
}

void virtio_pci_start(struct virtio_pci *virtio)
{
    add_status(virtio, STATUS_DRIVER_OK);
}

void virtio_pci_fail(struct virtio_pci *virtio)
{
    add_status(virtio, STATUS_FAILED);
}

void virtio_pci_close(struct virtio_pci *virtio)
{
    (void)virtio_pci_reset(virtio); /* one that does not end has no access to memory either */
    pci_stop_mastering(&virtio->pci);
}
