/* The control queues of virtio-serial. */
#include "drivers/virtio/serial_control.h"

#include <errno.h>
#include <string.h>

#include "drivers/clock/clock.h"
#include "drivers/platform.h"

#define BUFFER_BYTES 128
#define SEND_POLLS 100000
#define POLL_US 10

static void serial_control_post(struct serial_control *control, uint16_t id)
{
    virtqueue_post(&control->receive, id, control->buffers + (size_t)id * BUFFER_BYTES,
                   BUFFER_BYTES, true);
}

int serial_control_init(struct serial_control *control)
{
    uint16_t count = control->receive.size;

    control->buffers = platform_allocate((size_t)count * BUFFER_BYTES);
    control->message = platform_allocate(sizeof *control->message);
    if (control->buffers == NULL || control->message == NULL)
        return -ENOMEM;
    for (uint16_t id = 0; id < count; id++)
        serial_control_post(control, id);
    virtqueue_interrupts(&control->transmit, false);
    return 0;
}

int serial_control_send(struct serial_control *control, uint32_t port, enum serial_event event,
                        uint16_t value)
{
    uint16_t id;
    uint32_t bytes;

    if (control->transmit.under_way[0]) /* an earlier message timed out */
        return -EIO;
    *control->message = (struct serial_message){port, (uint16_t)event, value};
    virtqueue_post(&control->transmit, 0, control->message, sizeof *control->message, false);
    virtqueue_notify(&control->transmit);
    for (unsigned polls = 0; polls < SEND_POLLS; polls++) {
        int taken = virtqueue_take(&control->transmit, &id, &bytes);
        if (taken)
            return taken < 0 ? taken : 0;
        clock_delay_us(POLL_US);
    }
    return -EIO;
}

int serial_control_receive(struct serial_control *control, struct serial_message *message,
                           char *text, size_t room)
{
    uint16_t id;
    uint32_t bytes;
    int taken = virtqueue_take(&control->receive, &id, &bytes);
    const uint8_t *buffer;

    if (taken <= 0)
        return taken;
    buffer = control->buffers + (size_t)id * BUFFER_BYTES;
    *message = (struct serial_message){UINT32_MAX, SERIAL_RESIZE, 0}; /* too short: no port's */
    text[0] = '\0';
    if (bytes >= sizeof *message) {
        size_t text_bytes = bytes - sizeof *message;
        memcpy(message, buffer, sizeof *message);
        text_bytes = text_bytes < room - 1 ? text_bytes : room - 1;
        memcpy(text, buffer + sizeof *message, text_bytes);
        text[text_bytes] = '\0';
    }
    serial_control_post(control, id);
    virtqueue_notify(&control->receive);
    return 1;
}
