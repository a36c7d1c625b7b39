/* A CPU's ring of trace slots: one producer (the workload CPU), one consumer (service work).  Never
 * blocks, never overwrites.
 *
 * The producer is thread and interrupt context with interrupts off, which exclude each other:
 * ring_has_room, ring_reserve, ring_publish.  Where NMIs produce too (overflow sampling), they may
 * come between any two instructions of the others.  Then threads use ring_open and ring_close, NMIs
 * ring_reserve_nmi and ring_publish_nmi: slots are given out in order of asking, and become
 * visible when none before them is still being written.
 */
#ifndef GUEST_SAMPLE_RING_H
#define GUEST_SAMPLE_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/trace_slot.h"

#define RING_SLOTS 8192 /* of one CPU: 8 ms at 1 us; fewer where they have call stacks */
#define RING_SLOTS_MIN 64

struct ring {
    /* shared, read-mostly */
    uint8_t *slots;
    uint32_t slot_shift; /* log2 of the bytes of one slot: 6 or 7, more with call stacks */
    uint32_t mask; /* capacity - 1 */
    uint32_t cpu;
    uint32_t
        record_bytes; /* of a slot that is no sample, and how many addresses its stack has: 0 */
    /* the producer's line */
    uint64_t head __attribute__((aligned(64))); /* slots ever published */
    uint64_t reserved; /* slots ever given out: head, or more while a slot is open */
    uint64_t limit; /* reserved may grow to here before the producer must look again */
    bool open; /* between ring_open and ring_close */
    uint64_t lost_count; /* dropped since the last published HR_REC_LOST */
    uint64_t lost_first;
    uint64_t lost_last;
    /* the consumer's line */
    uint64_t tail __attribute__((aligned(64))); /* slots ever consumed */
};

/* capacity: a power of two.  0, -ENOMEM. */
int ring_init(struct ring *ring, uint32_t cpu, uint32_t capacity, uint32_t event_count);

/* Slots have stack_bytes bytes beyond the sample for its call stack: the ring gets `bytes` bytes of
 * other memory, a power of two and at least RING_SLOTS_MIN slots, of which as many as fit. */
void ring_add_stacks(struct ring *ring, void *memory, uint32_t bytes, uint32_t stack_bytes);

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
    uint64_t head = ring->head + 1;

    ring->reserved = head;
    __atomic_store_n(&ring->head, head, __ATOMIC_RELEASE);
}

/* Producer: counts a dropped sample. */
void ring_drop(struct ring *ring, uint64_t time);

/* Producer: room for one slot, after the HR_REC_LOST slot that is owed if any.  NULL: full.
 * Needed only when ring_has_room() says no; while a loss is owed it always does. */
struct trace_slot *ring_reserve(struct ring *ring);

/* Thread context where NMIs produce: a slot, NULL when the ring is full; then ring_close.  One at a
 * time. */
struct trace_slot *ring_open(struct ring *ring);
void ring_close(struct ring *ring);

/* The same, if no slot has been given out since ring_reserved() said `reserved`; otherwise NULL.
 * What was read in between is older than any later slot's. */
struct trace_slot *ring_open_at(struct ring *ring, uint64_t reserved);

static inline uint64_t ring_reserved(const struct ring *ring)
{
    return *(const volatile uint64_t *)&ring->reserved;
}

/* NMI: room for `count` slots from ring->reserved on, after the HR_REC_LOST slot that is owed if
 * any; leaves one for ring_open.  False: full; then ring_drop. */
bool ring_reserve_nmi(struct ring *ring, uint32_t count);

/* NMI: the same without looking: certainly room, and nothing owed.  The limit may be behind: a
 * thread that was interrupted while it looked stores an older one. */
static inline bool ring_has_room_nmi(const struct ring *ring, uint32_t count)
{
    return (int64_t)(ring->limit - ring->reserved) > count && !ring->lost_count;
}

/* NMI: makes `count` slots visible, unless an open one is before them: then ring_close does. */
static inline void ring_publish_nmi(struct ring *ring, uint32_t count)
{
    uint64_t reserved = ring->reserved + count;

    ring->reserved = reserved;
    if (!ring->open)
        __atomic_store_n(&ring->head, reserved, __ATOMIC_RELEASE);
}

/* Slots in use are more than half of the capacity: time to drain. */
static inline bool ring_half_full(const struct ring *ring)
{
    return ring->reserved - ring->tail > ring->mask / 2;
}

#endif
