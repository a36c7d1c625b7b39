/* How one sample or record gets into this CPU's ring, whatever asked for it.  Interrupts off. */
#ifndef GUEST_SAMPLE_SAMPLER_TAKE_H
#define GUEST_SAMPLE_SAMPLER_TAKE_H

#include "drivers/pmu/pmu.h"
#include "guest/base/run.h"
#include "guest/sample/ring.h"
#include "guest/sample/sample.h"
#include "guest/sample/stack.h"
#include "lib/x86.h"

/* The rare path: no room known, or a loss to report first.  In shared mode there is room after
 * service work; otherwise the sample is dropped and counted.
 */
bool sampler_make_room(struct cpu *cpu, uint64_t now);

/* Fills and publishes the slot at head; frame: whose call stack is taken, or NULL. */
static inline void sampler_fill(struct cpu *cpu, uint64_t now, const uint64_t *start, uint64_t ip,
                                uint32_t flags, const struct trap_frame *frame)
{
    struct ring *ring = cpu->ring;
    struct trace_slot *slot = ring_slot(ring, ring->head);

    sample_fill(slot, cpu, now, start, ip, flags, run.pmu->read);
    if (frame)
        stack_take(slot, frame);
    pmu_store_fence();
    ring_publish(ring);
}

/* One sample with HR_SAMPLE_* flags, if there is room. */
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

/* What a hypervisor took since the last look.  Where the ring is full, the next look has it. */
void sampler_record_steal(struct cpu *cpu);

#endif
