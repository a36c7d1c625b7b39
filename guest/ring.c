/* Ring set-up and the rare paths of the producer: full rings and owed losses. */
#include <errno.h>

#include "drivers/platform.h"
#include "guest/ring.h"

int ring_init(struct ring *ring, uint32_t cpu, uint32_t capacity, uint32_t event_count)
{
    *ring = (struct ring){
        .slot_shift = event_count <= TRACE_SLOT_SMALL_EVENTS ? 6 : 7,
        .mask = capacity - 1,
        .cpu = cpu,
    };
    ring->slots = platform_allocate((size_t)capacity << ring->slot_shift);
    ring_reset(ring);
    return ring->slots ? 0 : -ENOMEM;
}

void ring_reset(struct ring *ring)
{
    ring->head = ring->tail = ring->lost_count = 0;
    ring->limit = (uint64_t)ring->mask + 1;
}

void ring_drop(struct ring *ring, uint64_t time)
{
    if (ring->lost_count++ == 0)
        ring->lost_first = time;
    ring->lost_last = time;
    ring->limit = ring->head;
}

/* Looks how far the consumer is. */
static uint64_t room(struct ring *ring)
{
    ring->limit = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) + ring->mask + 1;
    return ring->limit - ring->head;
}

struct trace_slot *ring_reserve(struct ring *ring)
{
    uint64_t free_slots = room(ring);

    if (ring->lost_count) {
        if (free_slots < 2) {
            ring->limit = ring->head;
            return NULL;
        }
        struct trace_slot *slot = ring_slot(ring, ring->head);
        slot->time = ring->lost_first;
        slot->ip = ring->lost_last;
        slot->counters[0] = ring->lost_count;
        slot->kind = HR_REC_LOST;
        ring->lost_count = 0;
        ring_publish(ring);
        free_slots--;
    }
    return free_slots ? ring_slot(ring, ring->head) : NULL;
}
