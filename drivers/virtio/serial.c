/* virtio-serial: ports with names, sending without copies, receiving through posted buffers. */
#include "drivers/virtio/serial.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "drivers/clock/clock.h"
#include "drivers/mmio.h"
#include "drivers/pci/pci.h"
#include "drivers/platform.h"
#include "drivers/virtio/serial_control.h"
#include "drivers/virtio/virtio_pci.h"
#include "drivers/virtio/virtqueue.h"
#include "lib/array.h"

#define PORTS_MAX 16
#define NAME_BYTES 64
#define RECEIVE_BUFFERS 20 /* together more than one frame of stdin */
#define RECEIVE_BUFFER_BYTES 4096 /* QEMU fills no more of one buffer */
#define SEND_BYTES_MAX (1u << 30) /* of one descriptor */
#define NAMES_POLLS 10000
#define POLL_US 10

enum {
    FEATURE_MULTIPORT = 1 << 1, /* 5.3.3 */
    CONFIG_MAX_PORTS = 4, /* 5.3.4 */
};

struct port {
    char name[NAME_BYTES];
    struct virtqueue receive;
    struct virtqueue transmit;
    uint8_t *buffers; /* for receiving, one after the other; NULL until the first receive */
    uint32_t current_bytes;
    uint32_t current_offset;
    uint16_t current; /* the buffer that is being read */
    bool recycled; /* buffers were given back that the device was not told about */
    bool added;
    bool greeted; /* PORT_READY is sent */
    bool complete; /* the device will tell no more about it */
    bool sending;
    bool detached; /* serial_detach */
};

static const uint16_t device_ids[] = {0x1043, 0x1003}; /* modern, transitional: 4.1.2.1 */

static struct virtio_pci virtio;
static struct serial_control control;
static struct port ports[PORTS_MAX];
static unsigned port_count;

/* 5.3.2: port 0 has queues 0 and 1, the control queues are 2 and 3, port n has 2n+2 and 2n+3. */
static uint16_t receive_queue_number(unsigned port)
{
    return (uint16_t)(port == 0 ? 0 : 2 * port + 2);
}

static int add_queues(void)
{
    int error = virtio_pci_add_queue(&virtio, &control.receive, 2);

    if (!error)
        error = virtio_pci_add_queue(&virtio, &control.transmit, 3);
    for (unsigned i = 0; i < port_count && !error; i++) {
        uint16_t number = receive_queue_number(i);
        error = virtio_pci_add_queue(&virtio, &ports[i].receive, number);
        if (!error)
            error = virtio_pci_add_queue(&virtio, &ports[i].transmit, number + 1);
        if (!error)
            virtqueue_interrupts(&ports[i].transmit, false);
    }
    return error;
}

static void handle_message(const struct serial_message *message, const char *text)
{
    struct port *port;

    if (message->port >= port_count) {
        if (message->event == SERIAL_PORT_ADD)
            platform_log("virtio-serial: port %u ignored, only %u are used", message->port,
                         port_count);
        return;
    }
    port = &ports[message->port];
    switch (message->event) {
    case SERIAL_PORT_ADD:
        port->added = true;
        break;
    case SERIAL_PORT_REMOVE:
        port->added = false;
        break;
    case SERIAL_CONSOLE_PORT:
        port->complete = true;
        break;
    case SERIAL_PORT_NAME:
        memcpy(port->name, text, sizeof port->name);
        port->complete = true;
        break;
    default:
        break;
    }
}

/* Handles messages from the device.  Returns 0 or -EIO. */
static int drain_control(void)
{
    struct serial_message message;
    char text[NAME_BYTES] = "";
    int got;

    while ((got = serial_control_receive(&control, &message, text, sizeof text)) > 0)
        handle_message(&message, text);
    return got;
}

/* Makes the device name each port that it announced.  One at a time, and nothing is waiting to be
 * received before: QEMU drops a control message that finds no buffer.
 */
static int greet_ports(void)
{
    int error = drain_control();

    for (unsigned i = 0; i < port_count && !error; i++) {
        if (!ports[i].added || ports[i].greeted)
            continue;
        ports[i].greeted = true;
        error = serial_control_send(&control, i, SERIAL_PORT_READY, 1);
        if (!error)
            error = drain_control();
    }
    return error;
}

static bool ports_complete(void)
{
    unsigned added = 0;

    for (unsigned i = 0; i < port_count; i++) {
        added += ports[i].added;
        if (ports[i].added && !ports[i].complete)
            return false;
    }
    return added > 0;
}

/* DEVICE_READY makes the device announce its ports.  A port without a name costs the whole time
 * limit.
 */
static int learn_ports(void)
{
    int error = serial_control_send(&control, 0, SERIAL_DEVICE_READY, 1);

    if (!error)
        error = greet_ports();
    for (unsigned polls = 0; !error && !ports_complete() && polls < NAMES_POLLS; polls++) {
        clock_delay_us(POLL_US);
        error = greet_ports();
    }
    for (unsigned i = 0; i < port_count && !error; i++)
        if (ports[i].added)
            error = serial_control_send(&control, i, SERIAL_PORT_OPEN, 1);
    return error ? error : drain_control();
}

static int set_up_queues(void)
{
    uint32_t device_ports = mmio_read32(virtio.device + CONFIG_MAX_PORTS);
    int error;

    if (device_ports == 0)
        return -EIO;
    port_count = device_ports < PORTS_MAX ? device_ports : PORTS_MAX;
    error = add_queues();
    return error ? error : serial_control_init(&control);
}

int serial_init(uint8_t vector, uint32_t apic_id)
{
    struct pci_device device;
    int error;

    port_count = 0;
    memset(ports, 0, sizeof ports);
    if (pci_find(VIRTIO_PCI_VENDOR, device_ids, ARRAY_COUNT(device_ids), &device))
        return -ENODEV;
    error = virtio_pci_open(&virtio, &device, FEATURE_MULTIPORT, 0);
    if (error)
        return error;
    error = virtio_pci_interrupt(&virtio, vector, apic_id);
    if (!error)
        error = set_up_queues();
    if (!error) {
        virtio_pci_start(&virtio);
        virtqueue_notify(&control.receive);
        error = learn_ports();
    }
    if (error) {
        virtio_pci_fail(&virtio);
        port_count = 0;
    }
    return error;
}

int serial_find(const char *name)
{
    for (unsigned i = 0; i < port_count; i++)
        if (ports[i].added && strcmp(ports[i].name, name) == 0)
            return (int)i;
    return -ENOENT;
}

static struct port *port_get(int index)
{
    bool valid = index >= 0 && (unsigned)index < port_count && ports[index].added;
    return valid ? &ports[index] : NULL;
}

void serial_detach(int index)
{
    struct port *port = port_get(index);

    if (port != NULL)
        port->detached = true;
}

/* Handles messages from the device, unless the port is detached. */
static void look_at_control(const struct port *port)
{
    if (port == NULL || !port->detached)
        drain_control();
}

/* Notices the end of a send. */
static void look_at_transmit(struct port *port)
{
    uint16_t id;
    uint32_t bytes;
    int taken = port->sending ? virtqueue_take(&port->transmit, &id, &bytes) : 0;

    if (taken == 0)
        return;
    port->sending = false;
    virtqueue_interrupts(&port->transmit, false);
}

int serial_start(int index, const void *bytes, size_t count)
{
    struct port *port = port_get(index);

    look_at_control(port);
    if (port == NULL || count > SEND_BYTES_MAX || port->transmit.broken)
        return -EIO;
    look_at_transmit(port);
    if (port->sending)
        return -EBUSY;
    if (count == 0)
        return 0;
    port->sending = true;
    virtqueue_post(&port->transmit, 0, bytes, (uint32_t)count, false);
    virtqueue_notify(&port->transmit);
    look_at_transmit(port);
    if (port->sending) /* a waiter wants to be woken; serial_sent looks again first */
        virtqueue_interrupts(&port->transmit, true);
    return 0;
}

int serial_sent(int index)
{
    struct port *port = port_get(index);

    if (port == NULL)
        return 1;
    look_at_transmit(port);
    return !port->sending;
}

/* Waits for the send under way.  Returns 0, or -EIO if it failed or the port is gone. */
static int serial_finish(int index)
{
    struct port *port;

    while (!serial_sent(index)) {
        platform_wait();
        look_at_control(port_get(index));
    }
    port = port_get(index);
    return port == NULL || port->transmit.broken ? -EIO : 0;
}

int serial_send(int index, const void *bytes, size_t count)
{
    const uint8_t *from = bytes;
    int error = serial_finish(index);

    while (count > 0 && !error) {
        size_t part = count < SEND_BYTES_MAX ? count : SEND_BYTES_MAX;
        error = serial_start(index, from, part);
        if (!error)
            error = serial_finish(index);
        from += part;
        count -= part;
    }
    return error;
}

static uint8_t *receive_buffer(const struct port *port, uint16_t id)
{
    return port->buffers + (size_t)id * RECEIVE_BUFFER_BYTES;
}

static void post_receive_buffer(struct port *port, uint16_t id)
{
    virtqueue_post(&port->receive, id, receive_buffer(port, id), RECEIVE_BUFFER_BYTES, true);
}

static bool post_receive_buffers(struct port *port)
{
    port->buffers = platform_allocate((size_t)RECEIVE_BUFFERS * RECEIVE_BUFFER_BYTES);
    if (port->buffers == NULL)
        return false;
    for (uint16_t id = 0; id < RECEIVE_BUFFERS && id < port->receive.size; id++)
        post_receive_buffer(port, id);
    virtqueue_notify(&port->receive);
    return true;
}

/* Gives the current buffer back to the device, which is told later. */
static void serial_recycle(struct port *port)
{
    post_receive_buffer(port, port->current);
    port->recycled = true;
}

/* Makes sure that there are bytes in the current buffer; false when nothing has arrived. */
static bool next_buffer(struct port *port)
{
    while (port->current_offset == port->current_bytes) {
        uint16_t id;
        uint32_t bytes;
        if (virtqueue_take(&port->receive, &id, &bytes) <= 0)
            return false;
        port->current = id;
        port->current_bytes = bytes;
        port->current_offset = 0;
        if (bytes == 0) /* not an error, but nothing to read */
            serial_recycle(port);
    }
    return true;
}

static size_t take_from_buffer(struct port *port, uint8_t *out, size_t room)
{
    const uint8_t *buffer = receive_buffer(port, port->current);
    size_t part = port->current_bytes - port->current_offset;

    part = part < room ? part : room;
    memcpy(out, buffer + port->current_offset, part);
    port->current_offset += (uint32_t)part;
    if (port->current_offset == port->current_bytes)
        serial_recycle(port);
    return part;
}

size_t serial_receive(int index, void *out, size_t room)
{
    struct port *port = port_get(index);
    size_t taken = 0;

    look_at_control(port);
    if (port == NULL || (port->buffers == NULL && !post_receive_buffers(port)))
        return 0;
    while (taken < room && next_buffer(port))
        taken += take_from_buffer(port, (uint8_t *)out + taken, room - taken);
    if (port->recycled)
        virtqueue_notify(&port->receive);
    port->recycled = false;
    return taken;
}
