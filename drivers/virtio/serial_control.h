/* The control queues of virtio-serial: messages about ports.  Virtio 1.1, 5.3.6.2.
 * Only serial.c calls these.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "drivers/virtio/virtqueue.h"

enum serial_event {
    SERIAL_DEVICE_READY = 0,
    SERIAL_PORT_ADD = 1,
    SERIAL_PORT_REMOVE = 2,
    SERIAL_PORT_READY = 3,
    SERIAL_CONSOLE_PORT = 4,
    SERIAL_RESIZE = 5,
    SERIAL_PORT_OPEN = 6,
    SERIAL_PORT_NAME = 7,
};

struct serial_message {
    uint32_t port;
    uint16_t event; /* enum serial_event */
    uint16_t value;
};
_Static_assert(sizeof(struct serial_message) == 8, "serial_message");

struct serial_control {
    struct virtqueue receive;
    struct virtqueue transmit;
    uint8_t *buffers; /* for receiving, one after the other */
    struct serial_message *message;
};

/* Posts every buffer; both queues must be set up.  Returns 0 or -ENOMEM. */
int serial_control_init(struct serial_control *control);

/* Waits until the device has taken the message, one second at most.  Returns 0 or -EIO. */
int serial_control_send(struct serial_control *control, uint32_t port, enum serial_event event,
                        uint16_t value);

/* Takes the next message from the device; `text` (with its size, at least 1) receives what follows
 * the message, always NUL-terminated.  Returns 1, 0 if there is none, or -EIO. */
int serial_control_receive(struct serial_control *control, struct serial_message *message,
                           char *text, size_t room);
