/* Samples and records on their way into this CPU's ring. */
#include <string.h>

#include "guest/cpu/clock.h"
#include "guest/cpu/paravirt.h"
#include "guest/sample/overflow.h"
#include "guest/sample/sampler.h"
#include "guest/sample/sampler_take.h"
#include "guest/sample/sampling.h"
#include "guest/service/service.h"

bool sampler_make_room(struct cpu *cpu, uint64_t now)
{
    if (ring_reserve(cpu->ring))
        return true;
    if (!cpu->stop_mask) {
        ring_drop(cpu->ring, now);
        return false;
    }
    service_drain(cpu);
    return ring_reserve(cpu->ring) != NULL;
}

void sampler_record_steal(struct cpu *cpu)
{
    struct ring *ring = cpu->ring;
    struct trace_slot *slot;

    if (!paravirt_steal_due(cpu) || (!ring_has_room(ring) && !ring_reserve(ring)))
        return;
    slot = ring_slot(ring, ring->head);
    memset(slot, 0, ring->record_bytes);
    paravirt_steal_fill(cpu, slot, clock_entered(cpu));
    ring_publish(ring);
}

void sampler_read(struct cpu *cpu, uint64_t *values)
{
    if (sampling.mode == HR_MODE_OVERFLOW)
        overflow_read(cpu, values);
    else
        run.pmu->read(&sampling.session, cpu->user_ticks, values);
}

/* A slot for thread context, made room for if need be. */
static struct trace_slot *open_slot(struct cpu *cpu)
{
    bool nmis = sampling.mode == HR_MODE_OVERFLOW;
    struct trace_slot *slot;

    if (nmis && cpu->stop_mask && ring_half_full(cpu->ring))
        service_drain(cpu); /* in a long stay in the kernel nobody else does */
    while (!(slot = nmis ? ring_open(cpu->ring) : ring_reserve(cpu->ring))) {
        if (cpu->stop_mask)
            service_drain(cpu);
        else
            x86_pause();
    }
    return slot;
}

/* A slot between NMIs, and what the counters said just before: no NMI came between reading and the
 * slot, so that the samples' counts and times grow with their order. */
static struct trace_slot *open_reading(struct cpu *cpu, uint64_t *values, uint64_t *time)
{
    struct trace_slot *slot;

    do {
        if (cpu->stop_mask && ring_half_full(cpu->ring))
            service_drain(cpu);
        uint64_t reserved = ring_reserved(cpu->ring);
        *time = overflow_not_before(cpu, clock_entered(cpu));
        sampler_read(cpu, values);
        slot = ring_open_at(cpu->ring, reserved);
    } while (!slot);
    cpu->overflow_latest = overflow_not_before(cpu, *time); /* an NMI may have come since */
    return slot;
}

void sampler_poll(struct cpu *cpu, uint64_t ip, uint32_t flags)
{
    uint64_t values[HR_EVENTS_MAX], time;

    if (sampling.mode != HR_MODE_OVERFLOW) {
        sampler_take(cpu, clock_entered(cpu), ip, flags | HR_SAMPLE_POLLED);
        return;
    }
    struct trace_slot *slot = open_reading(cpu, values, &time);
    slot->time = time; /* field by field: a small slot is half the struct */
    slot->ip = ip;
    slot->tid = cpu->tid;
    slot->cost_ticks = 0;
    slot->flags = (uint8_t)(flags | HR_SAMPLE_POLLED);
    slot->kind = 0;
    memcpy(slot->counters, values, sampling.session.event_count * sizeof *values);
    if (stack_frame(cpu))
        stack_take(slot, stack_frame(cpu));
    pmu_store_fence();
    sampler_record_end(cpu);
}

struct trace_slot *sampler_record(struct cpu *cpu, enum hr_record_type kind, uint64_t time)
{
    struct trace_slot *slot = open_slot(cpu);

    memset(slot, 0, cpu->ring->record_bytes);
    slot->time = time;
    slot->tid = cpu->tid;
    slot->kind = (uint8_t)kind;
    return slot;
}

void sampler_record_end(struct cpu *cpu)
{
    if (sampling.mode == HR_MODE_OVERFLOW)
        ring_close(cpu->ring);
    else
        ring_publish(cpu->ring);
}
