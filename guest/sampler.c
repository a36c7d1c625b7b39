/* The sampling path: from the timer interrupt in ring 3 to one slot in this CPU's ring. */
#include <string.h>

#include "drivers/apic/apic.h"
#include "drivers/pmu/pmu.h"
#include "guest/clock.h"
#include "guest/entry.h"
#include "guest/overflow.h"
#include "guest/ring.h"
#include "guest/run.h"
#include "guest/sample.h"
#include "guest/sampler.h"
#include "guest/service.h"
#include "guest/stack.h"

/* Ticks from arming the timer to ring 3 in shared mode, where they are off the workload clock.  Too
 * much makes samples late; too little would let the timer fire before the program executed
 * anything, for ever.  So it starts too large, and calibration in virtual time trims it to what is
 * exact.
 */
static int64_t arm_lead_ticks;

/* The same after an interrupt that took a call stack; elsewhere it makes no difference, so that
 * stacks change no sample's time. */
static int64_t arm_lead_stacks_ticks;

/* Arms the timer for what comes first.  In shared mode the workload clock stands at `now` until
 * ring 3. */
static inline void arm(struct cpu *cpu, uint64_t now, const int64_t *lead_ticks)
{
    uint64_t due = cpu->next_due < cpu->attention_due ? cpu->next_due : cpu->attention_due;
    int64_t ticks;

    if (cpu->stop_mask)
        ticks = (int64_t)(due - now) + *lead_ticks;
    else
        ticks = (int64_t)(due - x86_rdtsc());
    apic_timer_arm(ticks);
}

/* The same where there may be nothing to come. */
static void arm_if_needed(struct cpu *cpu, uint64_t now)
{
    if (cpu->next_due < CPU_NEVER || cpu->attention_due < CPU_NEVER)
        arm(cpu, now, &arm_lead_ticks);
}

void sampler_set_attention(struct cpu *cpu, uint64_t due)
{
    bool sooner = due < cpu->next_due && due < cpu->attention_due;

    cpu->attention_due = due;
    if (sooner && !cpu->stopped_at) /* otherwise sampler_resume comes */
        apic_timer_arm((int64_t)(due - clock_now(cpu)));
}

void sampler_set_lead(int64_t ticks)
{
    arm_lead_ticks = arm_lead_stacks_ticks = ticks;
}

void sampler_trim(int64_t late_ticks, bool stacks)
{
    *(stacks ? &arm_lead_stacks_ticks : &arm_lead_ticks) -= late_ticks;
}

/* The rare path: no room known, or a loss to report first.  In shared mode there is room after
 * service work; otherwise the sample is dropped and counted.
 */
static __attribute__((noinline)) bool make_room(struct cpu *cpu, uint64_t now)
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

/* Fills and publishes the slot at head; frame: whose call stack is taken, or NULL. */
static inline void fill(struct cpu *cpu, uint64_t now, uint32_t start, uint64_t ip, uint32_t flags,
                        const struct trap_frame *frame)
{
    struct ring *ring = cpu->ring;
    struct trace_slot *slot = ring_slot(ring, ring->head);

    sample_fill(slot, cpu, now, start, ip, flags);
    if (frame)
        stack_take(slot, frame);
    pmu_store_fence();
    ring_publish(ring);
}

/* One sample with HR_SAMPLE_* flags, if there is room. */
static inline void take(struct cpu *cpu, uint64_t now, uint64_t ip, uint32_t flags)
{
    uint32_t start = (uint32_t)cpu->enter_ticks;

    if (__builtin_expect(!ring_has_room(cpu->ring), 0)) {
        if (!make_room(cpu, now))
            return;
        start = x86_rdtsc_low(); /* service work is not the cost of reading */
    }
    fill(cpu, now, start, ip, flags, stack_frame(cpu));
}

/* An interrupt before the program reached what is due: of a timer armed earlier, since when the
 * workload clock stood still, or of one that was armed anew while this interrupt was pending.  The
 * latter still runs.  Were it to expire in here, each of these interrupts would find the next one
 * pending, and the program would not get on.  So it is put off; true: it had expired already.
 * Or of one that nobody waits for any more.
 */
static bool leave_timer(const struct cpu *cpu)
{
    if (cpu->next_due >= CPU_NEVER && cpu->attention_due >= CPU_NEVER) {
        apic_timer_stop();
        return true;
    }
    apic_timer_arm(INT32_MAX);
    return apic_pending(VECTOR_TIMER);
}

/* An interrupt off the grid, or one that finds no room: false if the timer is not to be armed. */
static __attribute__((noinline)) bool interrupt_off_grid(struct cpu *cpu, uint64_t now, uint64_t ip)
{
    int64_t late = (int64_t)(now - cpu->next_due);

    bool attention = now >= cpu->attention_due;

    if (attention) { /* also with a late sample: every one may be late */
        cpu->attention_due = CPU_NEVER;
        apic_send(cpu->apic_id, VECTOR_ATTENTION); /* comes before the next instruction */
    }
    if (late < 0) {
        cpu->activity.interruptions += !attention && !cpu->stop_mask; /* or when that comes */
        return attention ? cpu->next_due < CPU_NEVER : !leave_timer(cpu);
    }
    take(cpu, now, ip, (uint64_t)late > run.interval_ticks / 2 ? HR_SAMPLE_LATE : 0);
    cpu->next_due = sample_next_due(cpu->next_due, now);
    return true;
}

/* frame: all registers, or NULL: no call stacks. */
static inline __attribute__((always_inline)) void
interrupt(const uint64_t *ip, const struct trap_frame *frame, const int64_t *lead_ticks)
{
    struct cpu *cpu = cpu_this();
    uint64_t now = clock_entered(cpu);

    if (__builtin_expect(now - cpu->next_due <= run.interval_ticks / 2 && ring_has_room(cpu->ring),
                         1)) {
        cpu->next_due += run.interval_ticks;
        fill(cpu, now, (uint32_t)cpu->enter_ticks, *ip, 0, frame);
    } else if (!interrupt_off_grid(cpu, now, *ip)) {
        apic_eoi();
        return;
    }
    apic_eoi();
    arm(cpu, clock_entered(cpu), lead_ticks);
}

void sampler_interrupt(struct irq_frame *frame)
{
    interrupt(&frame->rip, NULL, &arm_lead_ticks);
}

void sampler_interrupt_saved(struct trap_frame *frame)
{
    interrupt(&frame->rip, frame, &arm_lead_stacks_ticks);
}

/* The timer fired while a workload CPU waited in the kernel: sampler_resume arms it again, or
 * sampler_rearm. */
void sampler_interrupt_in_kernel(struct irq_frame *frame)
{
    (void)frame;
    cpu_this()->timer_missed = true;
    apic_eoi();
}

void sampler_rearm(struct cpu *cpu)
{
    if (!cpu->timer_missed)
        return;
    cpu->timer_missed = false;
    arm_if_needed(cpu, clock_entered(cpu)); /* nothing after it was on the workload clock */
}

void sampler_start(struct cpu *cpu, uint64_t now)
{
    cpu->next_due = run.mode == HR_MODE_TIMER && !cpu->paused ? now : CPU_NEVER;
    sampler_resume(cpu, now);
}

void sampler_resume(struct cpu *cpu, uint64_t now)
{
    if ((int64_t)(now - cpu->next_due) >= 0)
        cpu->next_due = sample_next_due(cpu->next_due, now);
    cpu->timer_missed = false;
    arm_if_needed(cpu, now);
}

void sampler_follow(struct cpu *cpu, uint64_t now)
{
    if (run.paused == cpu->paused)
        return;
    if (run.paused)
        sampler_pause(cpu);
    else
        sampler_unpause(cpu, now - (now - run.start_ticks) % run.interval_ticks);
}

void sampler_leave(struct cpu *cpu, uint64_t now, uint64_t ip)
{
    uint64_t late = now - cpu->next_due;

    if ((int64_t)late < 0)
        return;
    if (ring_has_room(cpu->ring) || make_room(cpu, now))
        fill(cpu, now, x86_rdtsc_low(), ip, late > run.interval_ticks / 2 ? HR_SAMPLE_LATE : 0,
             stack_frame(cpu));
    cpu->next_due = sample_next_due(cpu->next_due, now);
}

void sampler_rest(void)
{
    apic_timer_stop();
}

void sampler_stop(void)
{
    if (run.mode == HR_MODE_OVERFLOW)
        overflow_stop();
    else
        apic_timer_stop();
}

void sampler_pause(struct cpu *cpu)
{
    cpu->paused = true;
    cpu->next_due = CPU_NEVER; /* one that is pending comes early */
    if (run.mode == HR_MODE_OVERFLOW)
        overflow_pause(cpu);
}

void sampler_unpause(struct cpu *cpu, uint64_t now)
{
    cpu->paused = false;
    if (run.mode == HR_MODE_OVERFLOW)
        overflow_resume(cpu, overflow_not_before(cpu, now));
    else
        sampler_start(cpu, now);
}

void sampler_read(struct cpu *cpu, uint64_t *values)
{
    if (run.mode == HR_MODE_OVERFLOW)
        overflow_read(cpu, values);
    else
        run.pmu->read(&run.session, cpu->user_ticks, values);
}

/* A slot for thread context, made room for if need be. */
static struct trace_slot *open_slot(struct cpu *cpu)
{
    bool nmis = run.mode == HR_MODE_OVERFLOW;
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

    if (run.mode != HR_MODE_OVERFLOW) {
        take(cpu, clock_entered(cpu), ip, flags | HR_SAMPLE_POLLED);
        return;
    }
    struct trace_slot *slot = open_reading(cpu, values, &time);
    slot->time = time; /* field by field: a small slot is half the struct */
    slot->ip = ip;
    slot->tid = cpu->tid;
    slot->cost_ticks = 0;
    slot->flags = (uint8_t)(flags | HR_SAMPLE_POLLED);
    slot->kind = 0;
    memcpy(slot->counters, values, run.session.event_count * sizeof *values);
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
    if (run.mode == HR_MODE_OVERFLOW)
        ring_close(cpu->ring);
    else
        ring_publish(cpu->ring);
}

/* ---- samples that other CPUs ask for ---- */

void sampler_ask(struct cpu *cpu, uint64_t due)
{
    uint64_t none = 0;

    if (__atomic_load_n(&cpu->running, __ATOMIC_ACQUIRE) && !cpu->paused &&
        __atomic_compare_exchange_n(&cpu->ask_due, &none, due, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_RELAXED))
        apic_send(cpu->apic_id, VECTOR_SAMPLE);
}

void sampler_ask_all(struct cpu *self)
{
    for (uint32_t i = 1; i < cpu_count; i++) {
        struct cpu *cpu = &cpus[i];

        if (cpu != self && __atomic_load_n(&cpu->running, __ATOMIC_ACQUIRE) &&
            !__atomic_exchange_n(&cpu->ask_polled, true, __ATOMIC_SEQ_CST))
            apic_send(cpu->apic_id, VECTOR_SAMPLE);
    }
}

/* The interrupt waited while this CPU was in the kernel: such a sample is late. */
static void asked(uint64_t ip)
{
    struct cpu *cpu = cpu_this();
    uint64_t now = clock_entered(cpu);
    uint64_t due = __atomic_exchange_n(&cpu->ask_due, 0, __ATOMIC_SEQ_CST);

    apic_eoi();
    if (due && !cpu->paused && (int64_t)(now - due) >= 0)
        take(cpu, now, ip, now - due > run.interval_ticks / 2 ? HR_SAMPLE_LATE : 0);
    if (__atomic_exchange_n(&cpu->ask_polled, false, __ATOMIC_SEQ_CST))
        sampler_poll(cpu, ip, 0);
}

void sampler_asked(struct irq_frame *frame)
{
    asked(frame->rip);
}

void sampler_asked_saved(struct trap_frame *frame)
{
    asked(frame->rip);
}

/* Its thread began to wait meanwhile. */
void sampler_asked_in_kernel(struct irq_frame *frame)
{
    struct cpu *cpu = cpu_this();

    (void)frame;
    apic_eoi();
    __atomic_store_n(&cpu->ask_due, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&cpu->ask_polled, false, __ATOMIC_SEQ_CST);
}
