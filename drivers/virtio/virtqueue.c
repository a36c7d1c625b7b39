/* Split virtqueues: posting buffers and taking them back. */
#include "drivers/virtio/virtqueue.h"

#include <errno.h>

#include "drivers/mmio.h"
#include "drivers/platform.h"

enum {
    DESCRIPTOR_DEVICE_WRITES = 2,
    AVAILABLE_NO_INTERRUPT = 1,
    USED_NO_NOTIFY = 1,
};

struct rings { /* one allocation; offsets are multiples of what 2.6 asks for: 16, 2 and 4 */
    struct virtqueue_descriptor descriptors[VIRTQUEUE_SIZE_MAX];
    struct virtqueue_available available;
    struct virtqueue_used used;
};
_Static_assert(offsetof(struct rings, available) % 2 == 0, "alignment of the available ring");
_Static_assert(offsetof(struct rings, used) % 4 == 0, "alignment of the used ring");

int virtqueue_init(struct virtqueue *queue, uint16_t number, uint16_t size)
{
    struct rings *rings = platform_allocate(sizeof *rings);

    if (rings == NULL)
        return -ENOMEM;
    *queue = (struct virtqueue){.descriptors = rings->descriptors,
                                .available = &rings->available,
                                .used = &rings->used,
                                .number = number,
                                .size = size};
    return 0;
}

void virtqueue_post(struct virtqueue *queue, uint16_t id, const void *buffer, uint32_t bytes,
                    bool device_writes)
{
    queue->descriptors[id] =
        (struct virtqueue_descriptor){.address = platform_physical_address(buffer),
                                      .bytes = bytes,
                                      .flags = device_writes ? DESCRIPTOR_DEVICE_WRITES : 0};
    queue->under_way[id] = true;
    queue->buffer_bytes[id] = device_writes ? bytes : 0;
    queue->available->ring[queue->next_available % queue->size] = id;
    queue->next_available++;
    __atomic_store_n(&queue->available->index, queue->next_available, __ATOMIC_RELEASE);
}

void virtqueue_notify(struct virtqueue *queue)
{
    /* The index must be visible before the flags are read: 2.6.13.4.1. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (!(__atomic_load_n(&queue->used->flags, __ATOMIC_RELAXED) & USED_NO_NOTIFY))
        mmio_write16(queue->notify_register, queue->number);
}

int virtqueue_take(struct virtqueue *queue, uint16_t *id, uint32_t *bytes)
{
    uint16_t index, at;
    uint32_t used_id, used_bytes;

    if (queue->broken)
        return -EIO;
    index = __atomic_load_n(&queue->used->index, __ATOMIC_ACQUIRE);
    if (index == queue->next_used)
        return 0;
    at = queue->next_used % queue->size;
    used_id = __atomic_load_n(&queue->used->ring[at].id, __ATOMIC_RELAXED);
    used_bytes = __atomic_load_n(&queue->used->ring[at].bytes, __ATOMIC_RELAXED);
    if ((uint16_t)(index - queue->next_used) > queue->size || used_id >= queue->size ||
        !queue->under_way[used_id] || used_bytes > queue->buffer_bytes[used_id]) {
        queue->broken = true;
        return -EIO;
    }
    queue->next_used++;
    queue->under_way[used_id] = false;
    *id = (uint16_t)used_id;
    *bytes = used_bytes;
    return 1;
}

void virtqueue_interrupts(struct virtqueue *queue, bool wanted)
{
    __atomic_store_n(&queue->available->flags, wanted ? 0 : AVAILABLE_NO_INTERRUPT,
                     __ATOMIC_RELAXED);
    /* The device must see this before the caller looks at the used ring: 2.6.7.1. */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
