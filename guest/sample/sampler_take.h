/* Puts one sample or record into this CPU's ring, for every trigger.  Context: interrupts off. */
#ifndef GUEST_SAMPLE_SAMPLER_TAKE_H
#define GUEST_SAMPLE_SAMPLER_TAKE_H

#include "drivers/pmu/pmu.h"
#include "guest/base/run.h"
#include "guest/sample/ring.h"
#include "guest/sample/sample.h"
#include "guest/sample/stack.h"
#include "lib/x86.h"

/* The rare path: the ring may be full, or a loss is to be reported first.  Returns true if there is
 * room now; shared mode makes room by service work.  Otherwise counts the sample as dropped. */
bool sampler_make_room(struct cpu *cpu, uint64_t now);

/* Fills and publishes the slot at head.  `frame`: the registers to take the call stack from, or
 * NULL. */
static inline void sampler_fill(struct cpu *cpu, uint64_t now, const uint64_t *start, uint64_t ip,
                                uint32_t flags, const struct trap_frame *frame)
{
    struct ring *ring = cpu->ring;
    struct trace_slot *slot = ring_slot(ring, ring->head);

    sample_fill(slot, cpu, now, start, ip, flags, &sampling.reader);
    if (frame != NULL)
        stack_take(cpu, slot, frame);
    pmu_store_fence();
    ring_publish(ring);
}

/* Takes one sample with these HR_SAMPLE_* flags, if there is room. */
static inline void sampler_take(struct cpu *cpu, uint64_t now, uint64_t ip, uint32_t flags)
{
    const uint64_t *start = &cpu->clock.enter_ticks;
    uint64_t fresh;

    if (__builtin_expect(!ring_has_room(cpu->ring), 0)) {
        if (!sampler_make_room(cpu, now))
            return;
        fresh = x86_rdtsc(); /* service work is not the cost of reading */
        start = &fresh;
    }
    sampler_fill(cpu, now, start, ip, flags, stack_frame(cpu));
}

/* Waits for room in a full ring: a CPU that serves itself drains it, another CPU drains it
 * otherwise. */
static inline void sampler_await_room(struct cpu *cpu)
{
    if (cpu->clock.stop_mask)
        sampler_drain(cpu);
    else
        x86_pause();
}

/* Records the time that a hypervisor took since the last call.  If the ring is full, the next call
 * does. */
void sampler_record_steal(struct cpu *cpu);

#endif
