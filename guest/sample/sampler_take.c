/* Puts samples and records into this CPU's ring. */
#include <string.h>

#include "guest/cpu/clock.h"
#include "guest/cpu/paravirt.h"
#include "guest/sample/sampler.h"
#include "guest/sample/sampler_take.h"
#include "guest/sample/sampling.h"

bool sampler_make_room(struct cpu *cpu, uint64_t now)
{
    if (ring_reserve(cpu->ring) != NULL)
        return true;
    if (!cpu->clock.stop_mask) {
        ring_drop(cpu->ring, now);
        return false;
    }
    sampler_drain(cpu);
    return ring_reserve(cpu->ring) != NULL;
}

void sampler_record_steal(struct cpu *cpu)
{
    struct ring *ring = cpu->ring;
    struct trace_slot *slot;

    if (!paravirt_steal_due(cpu) || (!ring_has_room(ring) && ring_reserve(ring) == NULL))
        return;
    slot = ring_slot(ring, ring->head);
    memset(slot, 0, ring->record_bytes);
    paravirt_steal_fill(cpu, slot, clock_entered(cpu));
    ring_publish(ring);
}

struct trace_slot *sampler_record(struct cpu *cpu, enum hr_record_type kind, uint64_t time)
{
    struct trace_slot *slot = sampling.trigger->open(cpu);

    memset(slot, 0, cpu->ring->record_bytes);
    slot->time = time;
    slot->tid = cpu->tid;
    slot->kind = (uint8_t)kind;
    return slot;
}

void sampler_record_stack(struct cpu *cpu, uint64_t time, const struct trap_frame *frame,
                          uint8_t flags)
{
    struct trace_slot *slot = sampler_record(cpu, 0, time);

    slot->ip = frame->rip;
    slot->flags = flags | HR_SAMPLE_NO_COUNTERS;
    stack_take(cpu, slot, frame);
    pmu_store_fence();
    sampling.trigger->close(cpu);
}
