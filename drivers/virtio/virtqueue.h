/* A split virtqueue.  Virtual I/O Device Version 1.1, 2.6.
 *
 * The caller chooses the descriptor for each buffer, so a buffer's number is its descriptor's.
 * What the device writes is checked: it may name only descriptors that are under way.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VIRTQUEUE_SIZE_MAX 256 /* descriptors; more is never posted here */

struct virtqueue_descriptor { /* 2.6.5 */
    uint64_t address;
    uint32_t bytes;
    uint16_t flags;
    uint16_t next;
};
_Static_assert(sizeof(struct virtqueue_descriptor) == 16, "virtqueue_descriptor");

struct virtqueue_available { /* 2.6.6 */
    uint16_t flags;
    uint16_t index;
    uint16_t ring[VIRTQUEUE_SIZE_MAX];
};

struct virtqueue_used { /* 2.6.8 */
    uint16_t flags;
    uint16_t index;
    struct {
        uint32_t id;
        uint32_t bytes;
    } ring[VIRTQUEUE_SIZE_MAX];
};

struct virtqueue {
    struct virtqueue_descriptor *descriptors;
    struct virtqueue_available *available;
    struct virtqueue_used *used;
    volatile void *notify_register;
    uint16_t number; /* of the queue in the device */
    uint16_t size; /* descriptors, a power of two */
    uint16_t next_available;
    uint16_t next_used;
    bool broken; /* the device wrote nonsense: the queue is no longer used */
    bool under_way[VIRTQUEUE_SIZE_MAX];
    uint32_t buffer_bytes[VIRTQUEUE_SIZE_MAX];
};

/* Allocates the rings; the caller tells the device.  Returns 0 or -ENOMEM. */
int virtqueue_init(struct virtqueue *queue, uint16_t number, uint16_t size);

/* Hands a buffer to the device without notifying it; `id` must not be under way. */
void virtqueue_post(struct virtqueue *queue, uint16_t id, const void *buffer, uint32_t bytes,
                    bool device_writes);

/* Tells the device about posted buffers, unless it asked not to be told. */
void virtqueue_notify(struct virtqueue *queue);

/* Takes back one buffer that the device is done with.  Returns 1 with its id and the bytes that the
 * device wrote (at most the buffer's size), 0 if there is none, or -EIO if the queue is broken. */
int virtqueue_take(struct virtqueue *queue, uint16_t *id, uint32_t *bytes);

/* Asks for interrupts on used buffers, or for none.  After asking for them, the caller must look at
 * the queue once more before it waits. */
void virtqueue_interrupts(struct virtqueue *queue, bool wanted);
