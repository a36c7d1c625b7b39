/* A virtio device on the fake PCI bus: registers and queues, with knobs for strange behaviour. */
#ifndef TESTS_UNIT_DRIVERS_FAKE_VIRTIO_H
#define TESTS_UNIT_DRIVERS_FAKE_VIRTIO_H

#include "tests/unit/drivers/fake_mmio.h"
#include "tests/unit/drivers/fake_pci.h"
#include "tests/unit/drivers/fake_platform.h"

#include "drivers/clock/clock.h"

#define FAKE_QUEUES 70

struct fake_queue {
    uint16_t size, vector, enabled;
    uint64_t descriptors, available, used; /* addresses */
    uint16_t next; /* available entries consumed so far */
    unsigned notified;
};

/* Defined by what includes this: the driver rang for a queue. */
static void fake_notified(uint16_t number);

static struct {
    uint32_t features[2];
    uint32_t feature_select;
    uint32_t accepted[2];
    uint32_t accepted_select;
    bool refuse_features;
    bool deaf_to_reset;
    uint8_t status;
    uint16_t queue_count, queue_select;
    uint16_t queue_size;
    struct fake_queue queues[FAKE_QUEUES];
    uint8_t area[0x4000]; /* BAR 4; only addresses within it matter */
    uint8_t config[64]; /* the device's own registers */
    uint32_t msix[4];
} fake;

static struct fake_function *fake_function;

static uint16_t *fake_field(uint64_t ring, unsigned index)
{
    return (uint16_t *)(uintptr_t)ring + index;
}

static void fake_push_used(struct fake_queue *q, uint32_t id, uint32_t bytes)
{
    uint16_t *index = fake_field(q->used, 1);
    uint32_t *entry = (uint32_t *)(uintptr_t)(q->used + 4 + *index % q->size * 8);

    entry[0] = id;
    entry[1] = bytes;
    ++*index;
}

struct fake_buffer {
    uint8_t *at;
    uint32_t bytes;
    uint16_t id;
};

/* The next buffer that the driver posted. */
static bool fake_pop(struct fake_queue *q, bool device_writes, struct fake_buffer *buffer)
{
    if (q->next == *fake_field(q->available, 1))
        return false;
    buffer->id = *fake_field(q->available, 2u + q->next % q->size);
    assert_in_range(buffer->id, 0, q->size - 1);
    const uint8_t *descriptor = (const uint8_t *)(uintptr_t)(q->descriptors + buffer->id * 16);
    uint64_t address;
    uint16_t flags;
    memcpy(&address, descriptor, 8);
    memcpy(&buffer->bytes, descriptor + 8, 4);
    memcpy(&flags, descriptor + 12, 2);
    assert_int_equal(flags, device_writes ? 2 : 0);
    buffer->at = (uint8_t *)(uintptr_t)address;
    q->next++;
    return true;
}

static size_t fake_offset(const volatile void *at)
{
    size_t offset = (size_t)((const volatile uint8_t *)at - fake.area);

    assert_in_range(offset, 0, sizeof fake.area - 1);
    return offset;
}

static const uint8_t *fake_config(const volatile void *at, size_t bytes)
{
    size_t offset = fake_offset(at) - 0x2000;

    assert_in_range(offset, 0, sizeof fake.config - bytes);
    return fake.config + offset;
}

uint8_t mmio_read8(const volatile void *at)
{
    if (fake_offset(at) >= 0x2000)
        return *fake_config(at, 1);
    assert_int_equal(fake_offset(at), 0x14);
    return fake.status;
}

void mmio_write8(volatile void *at, uint8_t value)
{
    assert_int_equal(fake_offset(at), 0x14);
    if (fake.refuse_features)
        value &= (uint8_t)~8u;
    if (value == 0) { /* reset */
        memset(fake.queues, 0, sizeof fake.queues);
        value = fake.deaf_to_reset;
    }
    fake.status = value;
}

uint16_t mmio_read16(const volatile void *at)
{
    struct fake_queue *q = &fake.queues[fake.queue_select];
    uint16_t value;

    if (fake_offset(at) >= 0x2000) {
        memcpy(&value, fake_config(at, 2), 2);
        return value;
    }
    switch (fake_offset(at)) {
    case 0x12:
        return fake.queue_count;
    case 0x18:
        return q->size ? q->size : fake.queue_size;
    case 0x1a:
        return q->vector;
    case 0x1e:
        return fake.queue_select;
    default:
        fail_msg("read of 16 bits at %zx", fake_offset(at));
        return 0;
    }
}

void mmio_write16(volatile void *at, uint16_t value)
{
    size_t offset = fake_offset(at);
    struct fake_queue *q = &fake.queues[fake.queue_select];

    if (offset >= 0x3000) {
        assert_int_equal(offset, 0x3000 + 4 * value); /* each queue has its own notify address */
        fake_notified(value);
    } else if (offset == 0x16) {
        assert_in_range(value, 0, FAKE_QUEUES - 1);
        fake.queue_select = value;
    } else if (offset == 0x18) {
        q->size = value;
    } else if (offset == 0x1a) {
        q->vector = value;
    } else if (offset == 0x1c) {
        assert_true(value == 1 && q->descriptors && q->available && q->used && q->size);
        assert_int_equal(q->descriptors % 16 + q->available % 2 + q->used % 4, 0);
        q->enabled = 1;
    } else {
        assert_int_equal(offset, 0x10);
        assert_int_equal(value, 0xffff);
    }
}

uint32_t mmio_read32(const volatile void *at)
{
    if (fake_offset(at) >= 0x2000) {
        uint32_t value;
        memcpy(&value, fake_config(at, 4), 4);
        return value;
    }
    assert_int_equal(fake_offset(at), 4);
    return fake.features[fake.feature_select];
}

void mmio_write32(volatile void *at, uint32_t value)
{
    if ((volatile uint32_t *)at >= fake.msix && (volatile uint32_t *)at < fake.msix + 4) {
        *(volatile uint32_t *)at = value;
        return;
    }
    size_t offset = fake_offset(at);
    assert_true(value < 2 || offset == 0xc);
    if (offset == 0)
        fake.feature_select = value;
    else if (offset == 8)
        fake.accepted_select = value;
    else if (offset == 0xc)
        fake.accepted[fake.accepted_select] = value;
    else
        fail_msg("write of 32 bits at %zx", offset);
}

void mmio_write64(volatile void *at, uint64_t value)
{
    struct fake_queue *q = &fake.queues[fake.queue_select];
    size_t offset = fake_offset(at);

    assert_false(q->enabled);
    if (offset == 0x20)
        q->descriptors = value;
    else if (offset == 0x28)
        q->available = value;
    else if (offset == 0x30)
        q->used = value;
    else
        fail_msg("write of 64 bits at %zx", offset);
}

volatile void *platform_map_device(uint64_t physical, size_t bytes)
{
    uint64_t bar1 = fake_function->config[5], bar4 = fake_function->config[8] & ~15u;

    if (physical >= bar4 && physical - bar4 + bytes <= sizeof fake.area)
        return fake.area + (physical - bar4);
    assert_int_equal(physical, bar1);
    assert_int_equal(bytes, sizeof fake.msix);
    return fake.msix;
}

static void fake_capability(uint8_t at, uint8_t next, uint8_t type, uint32_t offset, uint32_t bytes)
{
    fake_put8(fake_function, at, 9);
    fake_put8(fake_function, (uint8_t)(at + 1), next);
    fake_put8(fake_function, (uint8_t)(at + 3), type);
    fake_put8(fake_function, (uint8_t)(at + 4), 4);
    memcpy((uint8_t *)fake_function->config + at + 8, &offset, 4);
    memcpy((uint8_t *)fake_function->config + at + 12, &bytes, 4);
}

/* A device with this id that has `features` and VERSION_1, and one that nobody asked for. */
static void fake_create_device(uint16_t device_id, uint32_t features)
{
    memset(&fake, 0, sizeof fake);
    memset(fake_functions, 0, sizeof fake_functions);
    fake.features[0] = features | 1u << 29;
    fake.features[1] = 1;
    fake.queue_size = 128;
    fake_platform_reset();
    fake.status = 0x0f; /* as the firmware left it */
    fake_function = fake_add(3, 0, (uint32_t)device_id << 16 | 0x1af4);
    fake_function->bar_mask[1] = 0xfffff000;
    fake_function->bar_mask[4] = 0xffffc000;
    fake_function->config[8] = 0xc;
    fake_function->bar_mask[5] = 0xffffffff;
    fake_put8(fake_function, 6, 0x10);
    fake_put8(fake_function, 0x34, 0x40);
    fake_capability(0x40, 0x60, 1, 0, 0x1000);
    fake_capability(0x60, 0x80, 2, 0x3000, 0x1000);
    fake_function->config[0x70 / 4] = 4; /* notify multiplier */
    fake_capability(0x80, 0xa0, 4, 0x2000, 0x1000);
    fake_function->config[0xa0 / 4] = 0x00010011; /* MSI-X, two entries */
    fake_function->config[0xa4 / 4] = 1;
}

#endif
