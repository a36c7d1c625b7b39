/* Ring set-up and the rare paths of the producer: full rings and owed losses. */
#include <errno.h>

#include "drivers/platform.h"
#include "guest/sample/ring.h"

/* The least power of two, from 64 bytes on. */
static uint32_t shift_for(uint32_t slot_bytes)
{
    uint32_t shift = 6;

    while (1u << shift < slot_bytes)
        shift++;
    return shift;
}

int ring_init(struct ring *ring, uint32_t cpu, uint32_t capacity, uint32_t value_count)
{
    *ring = (struct ring){
        .slot_shift = shift_for(trace_slot_bytes(value_count)),
        .mask = capacity - 1,
        .cpu = cpu,
        .record_bytes = trace_slot_bytes(value_count),
    };
    ring->slots = platform_allocate((size_t)capacity << ring->slot_shift);
    ring_reset(ring);
    return ring->slots != NULL ? 0 : -ENOMEM;
}

/* Moves the ring to memory in which as many slots of that size fit, but no more than before. */
static void ring_move(struct ring *ring, void *memory, uint64_t bytes, uint32_t slot_bytes)
{
    ring->slot_shift = shift_for(slot_bytes);
    while ((uint64_t)ring->mask + 1 > bytes >> ring->slot_shift)
        ring->mask /= 2;
    ring->slots = memory;
    ring_reset(ring);
}

void ring_add_stacks(struct ring *ring, void *memory, uint32_t bytes, uint32_t stack_bytes)
{
    uint32_t slot_bytes = ring->record_bytes + stack_bytes;

    ring->record_bytes += (uint32_t)sizeof(struct trace_slot_stack); /* of 0 addresses */
    ring_move(ring, memory, bytes, slot_bytes);
}

void ring_widen(struct ring *ring, void *memory, uint64_t bytes, uint32_t value_count)
{
    ring->record_bytes = trace_slot_bytes(value_count);
    if (memory == NULL)
        return;
    ring_move(ring, memory, bytes, ring->record_bytes);
}

void ring_reset(struct ring *ring)
{
    ring->head = ring->reserved = ring->tail = ring->lost_count = 0;
    ring->open = false;
    ring->limit = (uint64_t)ring->mask + 1;
}

void ring_drop(struct ring *ring, uint64_t time)
{
    if (ring->lost_count++ == 0)
        ring->lost_first = time;
    ring->lost_last = time;
    ring->limit = ring->reserved;
}

/* Updates the limit from the consumer's position and returns the free slots. */
static uint64_t ring_room(struct ring *ring)
{
    ring->limit = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) + ring->mask + 1;
    return ring->limit - ring->reserved;
}

/* Writes the owed loss into the next slot. */
static void write_loss(struct ring *ring)
{
    struct trace_slot *slot = ring_slot(ring, ring->reserved);

    slot->time = ring->lost_first;
    slot->ip = ring->lost_last;
    slot->counters[0] = ring->lost_count;
    slot->kind = HR_REC_LOST;
    ring->lost_count = 0;
}

struct trace_slot *ring_reserve(struct ring *ring)
{
    uint64_t free_slots = ring_room(ring);

    if (ring->lost_count) {
        if (free_slots < 2) {
            ring->limit = ring->head;
            return NULL;
        }
        write_loss(ring);
        ring_publish(ring);
        free_slots--;
    }
    return free_slots ? ring_slot(ring, ring->head) : NULL;
}

/* An NMI during this function may take slots too, but leaves one. */
struct trace_slot *ring_open(struct ring *ring)
{
    uint64_t position = 1;

    if (ring_room(ring) == 0)
        return NULL;
    ring->open = true;
    /* one instruction: an NMI comes before it or after it */
    __asm__ volatile("xaddq %0, %1" : "+r"(position), "+m"(ring->reserved)::"memory");
    return ring_slot(ring, position);
}

struct trace_slot *ring_open_at(struct ring *ring, uint64_t reserved)
{
    uint64_t position = reserved;

    if (ring_room(ring) == 0)
        return NULL;
    ring->open = true;
    /* one instruction: an NMI comes before it, and it fails, or after it */
    __asm__ volatile("cmpxchgq %2, %1"
                     : "+a"(position), "+m"(ring->reserved)
                     : "r"(reserved + 1)
                     : "memory", "cc");
    if (position == reserved)
        return ring_slot(ring, position);
    ring_close(ring); /* the NMI found it open */
    return NULL;
}

void ring_close(struct ring *ring)
{
    uint64_t reserved;

    do {
        ring->open = true;
        reserved = *(volatile uint64_t *)&ring->reserved;
        __atomic_store_n(&ring->head, reserved, __ATOMIC_RELEASE);
        __atomic_store_n(&ring->open, false, __ATOMIC_RELEASE);
        /* an NMI before the line above left publishing to us, one after it did it itself */
    } while (*(volatile uint64_t *)&ring->reserved != reserved);
}

bool ring_reserve_nmi(struct ring *ring, uint32_t count)
{
    uint64_t needed = count + (ring->lost_count != 0);

    if (ring_room(ring) <= needed)
        return false;
    if (ring->lost_count) {
        write_loss(ring);
        ring_publish_nmi(ring, 1);
    }
    return true;
}
