/* A virtio-serial device on the fake PCI bus, with knobs for slow, strange and hostile behaviour.
 */
#ifndef TESTS_UNIT_DRIVERS_FAKE_VIRTIO_SERIAL_H
#define TESTS_UNIT_DRIVERS_FAKE_VIRTIO_SERIAL_H

#include "tests/unit/drivers/fake_virtio.h"

#define FAKE_PORTS 32
#define FAKE_LOG 128

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
    struct fake_port ports[FAKE_PORTS];
    struct fake_message log[FAKE_LOG]; /* from the driver */
    unsigned log_count;
    struct fake_message late[FAKE_LOG]; /* to the driver, one a delay */
    unsigned late_count, late_done;
    bool answers_late;
    bool deaf; /* takes nothing from the control queue */
    unsigned waits, delays;
} serial;

static struct fake_queue *fake_queue_of(unsigned port, bool transmit)
{
    return &fake.queues[(port == 0 ? 0 : 2 * port + 2) + transmit];
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
    fake_tell(port, event, event == 7 ? serial.ports[port].name : NULL);
}

static void fake_answer(uint32_t port, uint16_t event)
{
    if (!serial.answers_late)
        fake_tell_event(port, event);
    else
        serial.late[serial.late_count++] = (struct fake_message){port, event, 1};
}

static void fake_control(struct fake_message message)
{
    assert_in_range(serial.log_count, 0, FAKE_LOG - 1);
    serial.log[serial.log_count++] = message;
    if (message.event == 0)
        for (uint32_t i = 0; i < FAKE_PORTS; i++)
            if (serial.ports[i].exists)
                fake_tell_event(i, 1);
    if (message.event == 3 && serial.ports[message.port].console)
        fake_answer(message.port, 4);
    if (message.event == 3 && serial.ports[message.port].name)
        fake_answer(message.port, 7);
    if (message.event == 3)
        fake_answer(message.port, 6);
}

static void fake_run_transmit(unsigned port)
{
    struct fake_queue *q = fake_queue_of(port, true);
    struct fake_port *p = &serial.ports[port];
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
    struct fake_port *p = &serial.ports[port];
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
        while (!serial.deaf && fake_pop(&fake.queues[3], false, &buffer)) {
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

void clock_delay_us(uint64_t us)
{
    (void)us;
    serial.delays++;
    if (serial.late_done < serial.late_count) {
        struct fake_message *late = &serial.late[serial.late_done++];
        fake_tell_event(late->port, late->event);
    }
}

/* The host reads what it had left. */
void platform_wait(void)
{
    bool wakes = false;

    serial.waits++;
    for (unsigned i = 0; i < FAKE_PORTS; i++) {
        if (!serial.ports[i].held)
            continue;
        serial.ports[i].held = false;
        wakes |= *fake_field(fake_queue_of(i, true)->available, 0) == 0;
        fake_run_transmit(i);
    }
    assert_true(wakes); /* without an interrupt the wait would never end */
}

static void fake_max_ports(uint32_t ports)
{
    memcpy(fake.config + 4, &ports, 4);
    fake.queue_count = (uint16_t)(2 * (ports + 1));
}

static int fake_create(void **state)
{
    (void)state;
    memset(&serial, 0, sizeof serial);
    fake_create_device(0x1043, 1 << 1); /* multiport */
    fake_max_ports(8);
    return 0;
}

static inline void fake_port(unsigned index, const char *name)
{
    serial.ports[index] = (struct fake_port){.name = name, .exists = true, .console = index == 0};
}

#endif
