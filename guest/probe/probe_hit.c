/* A breakpoint: records the hit, and continues the thread. */
#include <string.h>

#include "drivers/pmu/pmu.h"
#include "guest/base/run.h"
#include "guest/cpu/clock.h"
#include "guest/cpu/cpu.h"
#include "guest/probe/probe.h"
#include "guest/probe/probe_copy.h"
#include "guest/probe/probe_flow.h"
#include "guest/probe/probe_table.h"
#include "guest/sample/ring.h"
#include "guest/sample/sampler.h"
#include "guest/sample/sampler_take.h"
#include "guest/sample/sampling.h"
#include "guest/thread/thread.h"

/* Keeps the registers that the hit is asked for, as HR_REC_PROBES says. */
static void keep_arguments(uint64_t *to, const struct trap_frame *f, uint32_t what)
{
    const uint64_t arguments[HR_PROBE_ARGUMENTS_MAX] = {f->rdi, f->rsi, f->rdx,
                                                        f->rcx, f->r8,  f->r9};
    bool returned = what == HR_PROBE_RETURNED;

    for (uint32_t i = 0; i < probe_table.argument_count; i++)
        to[i] = !returned ? arguments[i] : i == 0 ? f->rax : 0;
}

/* A slot of lib/trace_slot.h. */
static inline void fill(struct trace_slot *slot, struct cpu *cpu, const struct probe_place *place,
                        const struct trap_frame *frame, uint32_t what)
{
    slot->time = clock_entered(cpu);
    slot->ip = frame->rsp;
    slot->tid = cpu->tid;
    slot->cost_ticks = (uint16_t)place->number;
    slot->flags = (uint8_t)(what | place->number >> 16 << 2);
    slot->kind = HR_REC_PROBES;
    if (__builtin_expect(probe_table.argument_count != 0, 0))
        keep_arguments(slot->counters + sampling.session.event_count, frame, what);
}

/* With NMIs that put samples into the ring. */
static __attribute__((noinline)) void record_among_nmis(struct cpu *cpu,
                                                        const struct probe_place *place,
                                                        const struct trap_frame *frame,
                                                        uint32_t what)
{
    uint64_t values[HR_EVENTS_MAX];
    struct trace_slot *slot;

    sampling.trigger->read(cpu, values);
    slot = ring_open(cpu->ring);
    if (slot == NULL) {
        ring_drop(cpu->ring, clock_entered(cpu));
        return;
    }
    memcpy(slot->counters, values, sampling.session.event_count * sizeof *values);
    fill(slot, cpu, place, frame, what);
    ring_close(cpu->ring);
}

static inline void record(struct cpu *cpu, const struct probe_place *place,
                          const struct trap_frame *frame, uint32_t what)
{
    struct trace_slot *slot;

    if (__builtin_expect(cpu_nmi_samples, 0)) {
        record_among_nmis(cpu, place, frame, what);
        return;
    }
    if (__builtin_expect(!ring_has_room(cpu->ring), 0) &&
        !sampler_make_room(cpu, clock_entered(cpu)))
        return;
    slot = ring_slot(cpu->ring, cpu->ring->head);
    run.pmu->read(&sampling.session, cpu->clock.user_ticks, slot->counters);
    fill(slot, cpu, place, frame, what);
    pmu_store_fence();
    ring_publish(cpu->ring);
}

/* --probe-every: one hit of many is a sample. */
static void sample(struct cpu *cpu, struct probe_place *place)
{
    if (++place->hits < probe_table.every)
        return;
    place->hits = 0;
    sampling.trigger->poll(cpu, place->ip, 0);
}

static __attribute__((noinline)) void note(struct cpu *cpu, struct probe_place *place,
                                           struct trap_frame *frame, uint32_t what)
{
    struct thread *thread = cpu->thread;

    if (thread->probe.again_ip == place->ip && thread->probe.again_sp == frame->rsp) {
        thread->probe.again_ip = 0;
        return;
    }
    if (probe_table.every) {
        if (what != HR_PROBE_RETURNED)
            sample(cpu, place);
        return;
    }
    record(cpu, place, frame, what);
    if (probe_table.stacks && what != HR_PROBE_RETURNED)
        sampling.trigger->poll(cpu, place->ip, 0);
}

bool probe_hit(struct trap_frame *frame)
{
    struct cpu *cpu = cpu_this();
    uint64_t ip = frame->rip - 1, to = 0;
    struct probe_place *place;
    uint32_t what;

    if (__builtin_expect(cpu->thread == NULL, 0))
        return false;
    if (__builtin_expect((int64_t)ip < 0, 0))
        return probe_end_copy(cpu, frame, ip);
    place = probe_place_at(cpu, ip);
    if (__builtin_expect(place == NULL, 0))
        return false;
    frame->rip = ip;
    what = place->point->kind & HR_PROBE_ENTERED;
    if (place->copy) {
        what |= place->point->kind & HR_PROBE_RETURNED;
    } else {
        if (!probe_flow_target(cpu, frame, place, &to))
            return false;
        if (place->point->kind & RUN_PROBE_RETURN && probe_flow_leaves(place->point, to - ip))
            what |= HR_PROBE_RETURNED;
    }
    if (what || place->point->kind & RUN_PROBE_PLACE)
        note(cpu, place, frame, what);
    if (place->copy)
        probe_enter_copy(cpu, frame, place);
    else
        frame->rip = to;
    return true;
}
