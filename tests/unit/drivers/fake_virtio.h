/* A virtio-serial device on the fake PCI bus, with knobs for slow, strange and hostile behaviour.
 */
#ifndef TESTS_UNIT_DRIVERS_FAKE_VIRTIO_H
#define TESTS_UNIT_DRIVERS_FAKE_VIRTIO_H

#include <stdlib.h>

#include "tests/unit/drivers/fake_mmio.h"
#include "tests/unit/drivers/fake_pci.h"

#include "drivers/clock/clock.h"
#include "drivers/platform.h"

#define FAKE_QUEUES 70
#define FAKE_PORTS 32
#define FAKE_LOG 128
#define FAKE_ALLOCATIONS 128

struct fake_queue {
    uint16_t size, vector, enabled;
    uint64_t descriptors, available, used; /* addresses */
    uint16_t next; /* available entries consumed so far */
    unsigned notified;
};

struct fake_message { /* on the control queues */
    uint32_t port;
    uint16_t event, value;
};

struct fake_port {
    const char *name;
    bool exists;
    bool console;
    bool held; /* the host does not read */
    const uint8_t *to_guest;
    size_t to_guest_bytes;
    uint8_t received[4096]; /* what the guest sent, as far as there is room */
    size_t received_bytes;
    const void *last_buffer;
};

static struct {
    uint32_t features[2];
    uint32_t feature_select;
    uint32_t accepted[2];
    uint32_t accepted_select;
    bool refuse_features;
    uint8_t status;
    uint16_t queue_select;
    uint16_t queue_size;
    uint32_t max_ports;
    struct fake_queue queues[FAKE_QUEUES];
    struct fake_port ports[FAKE_PORTS];
    struct fake_message log[FAKE_LOG]; /* from the driver */
    unsigned log_count;
    struct fake_message late[FAKE_LOG]; /* to the driver, one a delay */
    unsigned late_count, late_done;
    bool answers_late;
    bool deaf; /* takes nothing from the control queue */
    unsigned waits, delays, logged;
    unsigned allocations_left;
    void *allocations[FAKE_ALLOCATIONS];
    unsigned allocation_count;
    uint8_t area[0x4000]; /* BAR 4; only addresses within it matter */
    uint32_t msix[4];
} fake;

static struct fake_function *fake_function;

static struct fake_queue *fake_queue_of(unsigned port, bool transmit)
{
    return &fake.queues[(port == 0 ? 0 : 2 * port + 2) + transmit];
}

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

static void fake_tell(uint32_t port, uint16_t event, const char *text)
{
    struct fake_message message = {port, event, 1};
    struct fake_buffer buffer;
    size_t text_bytes = text ? strlen(text) : 0; /* without NUL, as the standard has it */

    assert_true(fake_pop(&fake.queues[2], true, &buffer)); /* a message would be lost */
    assert_in_range(text_bytes + sizeof message, 8, buffer.bytes);
    memcpy(buffer.at, &message, sizeof message);
    if (text)
        memcpy(buffer.at + sizeof message, text, text_bytes);
    fake_push_used(&fake.queues[2], buffer.id, (uint32_t)(sizeof message + text_bytes));
}

static void fake_tell_event(uint32_t port, uint16_t event)
{
    fake_tell(port, event, event == 7 ? fake.ports[port].name : NULL);
}

static void fake_answer(uint32_t port, uint16_t event)
{
    if (!fake.answers_late)
        fake_tell_event(port, event);
    else
        fake.late[fake.late_count++] = (struct fake_message){port, event, 1};
}

static void fake_control(struct fake_message message)
{
    assert_in_range(fake.log_count, 0, FAKE_LOG - 1);
    fake.log[fake.log_count++] = message;
    if (message.event == 0)
        for (uint32_t i = 0; i < FAKE_PORTS; i++)
            if (fake.ports[i].exists)
                fake_tell_event(i, 1);
    if (message.event == 3 && fake.ports[message.port].console)
        fake_answer(message.port, 4);
    if (message.event == 3 && fake.ports[message.port].name)
        fake_answer(message.port, 7);
    if (message.event == 3)
        fake_answer(message.port, 6);
}

static void fake_run_transmit(unsigned port)
{
    struct fake_queue *q = fake_queue_of(port, true);
    struct fake_port *p = &fake.ports[port];
    struct fake_buffer buffer;

    while (!p->held && fake_pop(q, false, &buffer)) {
        for (uint32_t i = 0; i < buffer.bytes; i++)
            if (p->received_bytes + i < sizeof p->received)
                p->received[p->received_bytes + i] = buffer.at[i];
        p->received_bytes += buffer.bytes;
        p->last_buffer = buffer.at;
        fake_push_used(q, buffer.id, 0);
    }
}

static void fake_run_receive(unsigned port)
{
    struct fake_queue *q = fake_queue_of(port, false);
    struct fake_port *p = &fake.ports[port];
    struct fake_buffer buffer;

    while (p->to_guest_bytes && fake_pop(q, true, &buffer)) {
        uint32_t part =
            p->to_guest_bytes < buffer.bytes ? (uint32_t)p->to_guest_bytes : buffer.bytes;
        memcpy(buffer.at, p->to_guest, part);
        p->to_guest += part;
        p->to_guest_bytes -= part;
        fake_push_used(q, buffer.id, part);
    }
}

static void fake_notified(uint16_t number)
{
    struct fake_buffer buffer;

    assert_true(fake.status & 4); /* not before DRIVER_OK */
    assert_in_range(number, 0, FAKE_QUEUES - 1);
    fake.queues[number].notified++;
    if (number == 3) {
        while (!fake.deaf && fake_pop(&fake.queues[3], false, &buffer)) {
            struct fake_message message;
            assert_int_equal(buffer.bytes, sizeof message);
            memcpy(&message, buffer.at, sizeof message);
            fake_control(message);
            fake_push_used(&fake.queues[3], buffer.id, 0);
        }
    } else if (number != 2) {
        unsigned port = number < 2 ? 0 : number / 2u - 1;
        if (number & 1)
            fake_run_transmit(port);
        else
            fake_run_receive(port);
    }
}

static size_t fake_offset(const volatile void *at)
{
    size_t offset = (size_t)((const volatile uint8_t *)at - fake.area);

    assert_in_range(offset, 0, sizeof fake.area - 1);
    return offset;
}

uint8_t mmio_read8(const volatile void *at)
{
    assert_int_equal(fake_offset(at), 0x14);
    return fake.status;
}

void mmio_write8(volatile void *at, uint8_t value)
{
    assert_int_equal(fake_offset(at), 0x14);
    if (fake.refuse_features)
        value &= (uint8_t)~8u;
    fake.status = value;
}

uint16_t mmio_read16(const volatile void *at)
{
    struct fake_queue *q = &fake.queues[fake.queue_select];

    switch (fake_offset(at)) {
    case 0x12:
        return (uint16_t)(2 * (fake.max_ports + 1));
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
    if (fake_offset(at) == 0x2004)
        return fake.max_ports;
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

void *platform_allocate(size_t bytes)
{
    if (fake.allocations_left == 0)
        return NULL;
    fake.allocations_left--;
    assert_in_range(fake.allocation_count, 0, FAKE_ALLOCATIONS - 1);
    void *memory = calloc(1, bytes);
    assert_non_null(memory);
    fake.allocations[fake.allocation_count++] = memory;
    return memory;
}

uint64_t platform_physical_address(const void *pointer)
{
    return (uintptr_t)pointer;
}

void platform_log(const char *format, ...)
{
    (void)format;
    fake.logged++;
}

void clock_delay_us(uint64_t us)
{
    (void)us;
    fake.delays++;
    if (fake.late_done < fake.late_count) {
        struct fake_message *late = &fake.late[fake.late_done++];
        fake_tell_event(late->port, late->event);
    }
}

/* The host reads what it had left. */
void platform_wait(void)
{
    bool wakes = false;

    fake.waits++;
    for (unsigned i = 0; i < FAKE_PORTS; i++) {
        if (!fake.ports[i].held)
            continue;
        fake.ports[i].held = false;
        wakes |= *fake_field(fake_queue_of(i, true)->available, 0) == 0;
        fake_run_transmit(i);
    }
    assert_true(wakes); /* without an interrupt the wait would never end */
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

static int fake_create(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof fake);
    memset(fake_functions, 0, sizeof fake_functions);
    fake.features[0] = 1 << 1 | 1 << 29; /* multiport, and one that nobody asked for */
    fake.features[1] = 1;
    fake.queue_size = 128;
    fake.max_ports = 8;
    fake.allocations_left = FAKE_ALLOCATIONS;
    fake.status = 0x0f; /* as the firmware left it */
    fake_function = fake_add(3, 0, 0x10431af4);
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
    return 0;
}

static int fake_destroy(void **state)
{
    (void)state;
    for (unsigned i = 0; i < fake.allocation_count; i++)
        free(fake.allocations[i]);
    return 0;
}

static inline void fake_port(unsigned index, const char *name)
{
    fake.ports[index] = (struct fake_port){.name = name, .exists = true, .console = index == 0};
}

#endif
