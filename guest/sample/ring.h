/* A CPU's ring of trace slots: one producer (the workload CPU), one consumer (service work).  Never
 * blocks, never overwrites.
 *
 * The producer is thread or interrupt context with interrupts off; these exclude each other.  It
 * uses ring_has_room, ring_reserve and ring_publish.  In overflow sampling NMIs produce too, and
 * may come between any two instructions of the others.  Then threads use ring_open and ring_close,
 * and NMIs use ring_reserve_nmi and ring_publish_nmi: slots are given out in the order of the
 * calls, and a slot becomes visible once every slot before it is written.
 */
#ifndef GUEST_SAMPLE_RING_H
#define GUEST_SAMPLE_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/trace/trace_slot.h"

#define RING_SLOTS 8192 /* of one CPU: 8 ms at 1 us; fewer with call stacks */
#define RING_SLOTS_MIN 64

struct ring {
    /* shared, read-mostly */
    uint8_t *slots;
    uint32_t slot_shift; /* log2 of the bytes of one slot */
    uint32_t mask; /* capacity - 1 */
    uint32_t cpu;
    uint32_t record_bytes; /* of a record's slot, with a stack of 0 addresses */
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

/* `capacity` is a power of two; value_count: see trace_slot_bytes.  Returns 0 or -ENOMEM. */
int ring_init(struct ring *ring, uint32_t cpu, uint32_t capacity, uint32_t value_count);

/* Moves the ring to `memory` and adds stack_bytes bytes to each slot for its call stack.  `bytes`
 * is a power of two with room for at least RING_SLOTS_MIN slots; the ring gets as many slots as
 * fit. */
void ring_add_stacks(struct ring *ring, void *memory, uint32_t bytes, uint32_t stack_bytes);

/* Moves the ring to `memory`, of `bytes` bytes, and makes its slots as large as so many values
 * need: as many slots as fit, but no more than before.  memory NULL: ring_add_stacks, which moves
 * it, follows. */
void ring_widen(struct ring *ring, void *memory, uint64_t bytes, uint32_t value_count);

static inline struct trace_slot *ring_slot(const struct ring *ring, uint64_t position)
{
    return (struct trace_slot *)(ring->slots + ((position & ring->mask) << ring->slot_shift));
}

/* Empties the ring and forgets its losses.  No other CPU may use the ring during the call. */
void ring_reset(struct ring *ring);

/* Producer: true if there is certainly room for a slot at head. */
static inline bool ring_has_room(const struct ring *ring)
{
    return ring->head != ring->limit;
}

/* In one instruction.  Its store orders those before it, as each store of this processor does. */
static inline void ring_advance(uint64_t *position)
{
    __asm__ volatile("addq $1, %0" : "+m"(*position) : : "memory", "cc");
}

/* Producer: makes the slot at head visible to the consumer. */
static inline void ring_publish(struct ring *ring)
{
    ring_advance(&ring->reserved);
    ring_advance(&ring->head);
}

/* Producer: makes all slots before `head` visible. */
static inline void ring_publish_slots(struct ring *ring, uint64_t head)
{
    ring->reserved = head;
    __atomic_store_n(&ring->head, head, __ATOMIC_RELEASE);
}

/* Producer: counts a dropped sample. */
void ring_drop(struct ring *ring, uint64_t time);

/* Producer: writes the HR_REC_LOST slot that is owed, if any, then returns a slot, or NULL if the
 * ring is full.  Needed only when ring_has_room() returns false, which it always does while a loss
 * is owed. */
struct trace_slot *ring_reserve(struct ring *ring);

/* Thread context, where NMIs produce too: returns a slot to fill before ring_close, or NULL if the
 * ring is full.  Only one slot may be open at a time. */
struct trace_slot *ring_open(struct ring *ring);
void ring_close(struct ring *ring);

/* As ring_open, but also returns NULL if a slot was given out since ring_reserved() returned
 * `reserved`.  So what the caller read in between is older than the content of any later slot. */
struct trace_slot *ring_open_at(struct ring *ring, uint64_t reserved);

static inline uint64_t ring_reserved(const struct ring *ring)
{
    return *(const volatile uint64_t *)&ring->reserved;
}

/* NMI: writes the HR_REC_LOST slot that is owed, if any, and makes sure of room for `count` slots
 * from ring->reserved on, plus one for ring_open.  Returns false if the ring is full: then call
 * ring_drop. */
bool ring_reserve_nmi(struct ring *ring, uint32_t count);

/* NMI: true if there is certainly room for `count` slots and no loss is owed, without looking at
 * the consumer.  The limit may be out of date: a thread that was interrupted while it looked stores
 * an older one. */
static inline bool ring_has_room_nmi(const struct ring *ring, uint32_t count)
{
    return ring->reserved + count < ring->limit && !ring->lost_count;
}

/* NMI: makes `count` slots visible.  If an open slot precedes them, ring_close does that instead.
 */
static inline void ring_publish_nmi(struct ring *ring, uint32_t count)
{
    uint64_t reserved = ring->reserved + count;

    ring->reserved = reserved;
    if (__builtin_expect(!ring->open, 1))
        __atomic_store_n(&ring->head, reserved, __ATOMIC_RELEASE);
}

/* True if more than half of the slots are in use: time to drain. */
static inline bool ring_half_full(const struct ring *ring)
{
    return 2 * (ring->reserved - ring->tail) > ring->mask;
}

#endif
