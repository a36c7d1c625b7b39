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
    return ring->slots ? 0 : -ENOMEM;
}

void ring_drop(struct ring *ring, uint64_t time)
{
    if (ring->lost_count++ == 0)
        ring->lost_first = time;
    ring->lost_last = time;
}

struct trace_slot *ring_reserve(struct ring *ring)
{
    if (__builtin_expect(ring->lost_count != 0, 0)) {
        if (!ring_has_room(ring, 2))
            return NULL;
        struct trace_slot *slot = ring_slot(ring, ring->head);
        slot->time = ring->lost_first;
        slot->ip = ring->lost_last;
        slot->counters[0] = ring->lost_count;
        slot->kind = HR_REC_LOST;
        ring->lost_count = 0;
        ring_publish(ring);
    }
    return ring_has_room(ring, 1) ? ring_slot(ring, ring->head) : NULL;
}
