/* A CPU's ring of trace slots: one producer (the workload CPU, in interrupt or thread context),
 * one consumer (service work).  Never blocks, never overwrites.
 */
#ifndef GUEST_RING_H
#define GUEST_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/trace_slot.h"

#define RING_SLOTS 8192 /* of one CPU: 8 ms at 1 us */

struct ring {
    /* shared, read-mostly */
    uint8_t *slots;
    uint32_t slot_shift; /* log2 of the bytes of one slot: 6 or 7 */
    uint32_t mask; /* capacity - 1 */
    uint32_t cpu;
    /* the producer's line */
    uint64_t head __attribute__((aligned(64))); /* slots ever published */
    uint64_t limit; /* head may grow to here before the producer must look again */
    uint64_t lost_count; /* dropped since the last published HR_REC_LOST */
    uint64_t lost_first;
    uint64_t lost_last;
    /* the consumer's line */
    uint64_t tail __attribute__((aligned(64))); /* slots ever consumed */
};

/* capacity: a power of two.  0, -ENOMEM. */
int ring_init(struct ring *ring, uint32_t cpu, uint32_t capacity, uint32_t event_count);

static inline struct trace_slot *ring_slot(const struct ring *ring, uint64_t position)
{
    return (struct trace_slot *)(ring->slots + ((position & ring->mask) << ring->slot_shift));
}

/* Empties the ring and forgets its losses: nobody else uses it at the moment. */
void ring_reset(struct ring *ring);

/* Producer: there is certainly room for a slot at head. */
static inline bool ring_has_room(const struct ring *ring)
{
    return ring->head != ring->limit;
}

/* Producer: makes the slot at head visible to the consumer. */
static inline void ring_publish(struct ring *ring)
{
    __atomic_store_n(&ring->head, ring->head + 1, __ATOMIC_RELEASE);
}

/* Producer: counts a dropped sample. */
void ring_drop(struct ring *ring, uint64_t time);

/* Producer: room for one slot, after the HR_REC_LOST slot that is owed if any.  NULL: full.
 * Needed only when ring_has_room() says no; while a loss is owed it always does. */
struct trace_slot *ring_reserve(struct ring *ring);

#endif
