/* A breakpoint: records the hit, and continues the thread. */
#include <string.h>

#include "drivers/pmu/pmu.h"
#include "guest/base/run.h"
#include "guest/cpu/clock.h"
#include "guest/cpu/cpu.h"
#include "guest/cpu/cross.h"
#include "guest/probe/probe.h"
#include "guest/probe/probe_copy.h"
#include "guest/probe/probe_flow.h"
#include "guest/probe/probe_heap.h"
#include "guest/probe/probe_table.h"
#include "guest/sample/ring.h"
#include "guest/sample/sampler.h"
#include "guest/sample/sampler_take.h"
#include "guest/sample/sampling.h"
#include "guest/thread/thread.h"
#include "guest/vm/uaccess.h"
#include "lib/bytes.h"

#define FLAG_TRAP 0x100u /* of RFLAGS: the program steps through its instructions */
#define VECTOR_DEBUG 1

/* Keeps the registers that the hit is asked for, as HR_REC_PROBES says. */
static void keep_arguments(uint64_t *to, const struct trap_frame *f, uint32_t what)
{
    const uint64_t arguments[HR_PROBE_ARGUMENTS_MAX] = {f->rdi, f->rsi, f->rdx,
                                                        f->rcx, f->r8,  f->r9};
    bool returned = what == HR_PROBE_RETURNED;

    for (uint32_t i = 0; i < probe_table.argument_count; i++)
        to[i] = !returned ? arguments[i] : i == 0 ? f->rax : 0;
}

static inline __attribute__((always_inline)) void
fill(struct trace_slot *slot, const struct cpu *cpu, const struct probe_place *place,
     const struct trap_frame *frame, uint32_t what)
{
    slot->time = clock_entered(cpu);
    slot->ip = frame->rsp;
    slot->tid = cpu->tid;
    bytes_store32(&slot->cost_ticks, place->slot_word | what << 16);
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
    keep_arguments(slot->counters + sampling.session.event_count, frame, what);
    ring_close(cpu->ring);
}

static inline __attribute__((always_inline)) void record_at(struct cpu *cpu,
                                                            const struct probe_place *place,
                                                            const struct trap_frame *frame,
                                                            uint32_t what)
{
    struct trace_slot *slot = ring_slot(cpu->ring, cpu->ring->head);

    fill(slot, cpu, place, frame, what);
    run.pmu->read(&sampling.session, cpu->clock.user_ticks, slot->counters);
    if (probe_table.argument_count)
        keep_arguments(slot->counters + sampling.session.event_count, frame, what);
    pmu_store_fence();
    ring_publish(cpu->ring);
}

static void record(struct cpu *cpu, const struct probe_place *place, const struct trap_frame *frame,
                   uint32_t what)
{
    if (cpu_nmi_samples)
        record_among_nmis(cpu, place, frame, what);
    else if (ring_has_room(cpu->ring) || sampler_make_room(cpu, clock_entered(cpu)))
        record_at(cpu, place, frame, what);
}

/* Takes a sample with its call stack.  At a function's entry its frame is still to be made, so a
 * walk along frame pointers would miss the caller: it gets the frame that the function is about to
 * make, in memory below the stack that the function does not use yet. */
static void sample(struct cpu *cpu, const struct probe_place *place, struct trap_frame *frame,
                   uint32_t what)
{
    uint64_t fp = frame->rbp, made = frame->rsp - sizeof fp;

    if (what & HR_PROBE_ENTERED && run.stacks.kind == HR_STACK_FP) {
        cross_lock(cpu);
        cpu->clock.stopped_at = cpu->clock.enter_ticks; /* it stands since the breakpoint */
        if (copy_to_user(made, &fp, sizeof fp) == 0)
            frame->rbp = made;
        cpu->clock.stopped_at = 0;
        cross_unlock();
    }
    sampling.trigger->poll(cpu, place->ip, 0);
    frame->rbp = fp;
}

static __attribute__((noinline)) void note(struct cpu *cpu, struct probe_place *place,
                                           struct trap_frame *frame, uint32_t what)
{
    struct thread *thread = cpu->thread;

    if (thread->probe.again_ip == place->ip && thread->probe.again_sp == frame->rsp) {
        thread->probe.again_ip = 0;
        return;
    }
    if (place->point->kind & RUN_PROBE_HEAP)
        probe_heap_note(cpu, place, frame);
    if (!what && !(place->point->kind & RUN_PROBE_PLACE))
        return;
    if (!probe_table.every)
        record(cpu, place, frame, what);
    if (what == HR_PROBE_RETURNED)
        return;
    if (probe_table.stacks)
        sample(cpu, place, frame, what);
    if (probe_table.every && ++place->hits >= probe_table.every) { /* one hit of many */
        place->hits = 0;
        sample(cpu, place, frame, what);
    }
}

/* Every hit that is not one of the frequent kind. */
static __attribute__((noinline)) bool handle(struct cpu *cpu, struct trap_frame *frame, uint64_t ip)
{
    uint64_t to = 0, sp = frame->rsp, after;
    struct probe_place *place;
    uint32_t what;

    if (cpu->thread == NULL)
        return false;
    if ((int64_t)ip < 0)
        return probe_end_copy(cpu, frame, ip);
    place = probe_place_at(cpu, ip);
    if (place == NULL)
        return false;
    frame->rip = ip;
    what = place->what;
    if (!place->copy) {
        if (!probe_flow_target(cpu, frame, place, &to))
            return false;
        if (what & HR_PROBE_RETURNED && !probe_flow_leaves(place->point, to - ip))
            what &= HR_PROBE_ENTERED;
    }
    after = frame->rsp;
    frame->rsp = sp; /* a call has pushed */
    if (what || place->point->kind & (RUN_PROBE_PLACE | RUN_PROBE_HEAP))
        note(cpu, place, frame, what);
    frame->rsp = after;
    if (place->copy) {
        probe_enter_copy(cpu, frame, place);
        return true;
    }
    frame->rip = to;
    if (!(frame->rflags & FLAG_TRAP))
        return true;
    frame->vector = VECTOR_DEBUG; /* as the processor does after the jump */
    return false;
}

bool probe_hit(struct trap_frame *frame)
{
    struct cpu *cpu = cpu_this();
    uint64_t ip = frame->rip - 1;
    const struct probe_recent *known = cpu->probe_recent;
    const struct probe_place *place;

    if (__builtin_expect(known == NULL, 0))
        return handle(cpu, frame, ip);
    known += ip % PROBE_RECENT;
    place = known->place;
    if (__builtin_expect(known->ip != ip || known->space != cpu->space || !place->plain ||
                             cpu->thread->probe.again_ip == ip || !ring_has_room(cpu->ring),
                         0))
        return handle(cpu, frame, ip);
    record_at(cpu, place, frame, place->what);
    frame->rip = place->copy;
    probe_take_off(cpu, place->excess);
    return true;
}
