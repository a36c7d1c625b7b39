/* The NMI handler of overflow sampling. */
#include "guest/overflow.h"

#include "drivers/apic/apic.h"
#include "drivers/pmu/pmu.h"
#include "guest/clock.h"
#include "guest/entry.h"
#include "guest/layout.h"
#include "guest/leave.h"
#include "guest/ring.h"
#include "guest/run.h"
#include "guest/sample.h"
#include "guest/stack.h"

/* What the first event's counter counted since it was set to minus the period. */
static inline uint64_t elapsed(const struct cpu *cpu)
{
    return (pmu_rdpmc(run.session.events[0].counter) + cpu->overflow_period) & run.overflow_mask;
}

/* Adapts the period after a sample; the slot after it announces a change. */
static __attribute__((noinline)) uint32_t adapt(struct cpu *cpu, uint64_t now, uint64_t counted)
{
    uint64_t period = overflow_next_period(&cpu->overflow_rate, cpu->overflow_period, counted,
                                           now - cpu->overflow_time, run.wanted_ticks);
    struct ring *ring = cpu->ring;

    if (period < run.period_min)
        period = run.period_min;
    if (period > run.pmu_caps.period_max)
        period = run.pmu_caps.period_max;
    if (period == cpu->overflow_period)
        return 0;
    struct trace_slot *slot = ring_slot(ring, ring->reserved + 1);
    slot->time = now;
    slot->kind = HR_REC_PERIOD;
    slot->counters[0] = period;
    cpu->overflow_period = period;
    return 1;
}

/* Whose call stack is taken. */
struct source {
    const struct trap_frame *user; /* ring 3, all registers; NULL: ring 0, or no call stacks */
    const struct irq_frame *kernel; /* ring 0; or NULL */
    uint64_t kernel_fp;
};
static const struct source no_stack;

/* One overflow: sample, next period, and the counter goes on. */
static inline __attribute__((always_inline)) void sample(struct cpu *cpu, uint64_t now,
                                                         uint32_t start, uint64_t ip,
                                                         uint32_t flags, struct source source)
{
    struct ring *ring = cpu->ring;
    uint64_t counted = elapsed(cpu);
    uint32_t slots = 1;

    now = overflow_not_before(cpu, now);
    cpu->overflow_samples++;
    cpu->overflow_base += counted;
    if (__builtin_expect(cpu->paused, 0)) { /* the NMI was on its way already */
        run.pmu->rearm(&run.session, cpu->overflow_period);
        return;
    }
    if (__builtin_expect(!ring_has_room_nmi(ring, 2), 0) && !ring_reserve_nmi(ring, 2)) {
        ring_drop(ring, now);
    } else {
        struct trace_slot *slot = ring_slot(ring, ring->reserved);
        sample_fill(slot, cpu, now, start, ip, flags);
        pmu_store(&slot->counters[0], cpu->overflow_base); /* whole */
        if (source.user)
            stack_take(slot, source.user);
        if (source.kernel)
            stack_take_kernel(slot, cpu, source.kernel, source.kernel_fp);
        pmu_store_fence();
        if (run.wanted_ticks)
            slots += adapt(cpu, now, counted);
        ring_publish_nmi(ring, slots);
    }
    cpu->overflow_time = cpu->overflow_latest = now;
    run.pmu->rearm(&run.session, cpu->overflow_period);
}

/* An NMI that no overflow explains: the second of two that arrived back to back, firmware's, or
 * that of a CPU that panics. */
static __attribute__((noinline)) void unexplained(struct cpu *cpu)
{
    if (cpu->index == 0)
        leave_if_asked();
    cpu_stop_asked(cpu);
    if (run.mode != HR_MODE_OVERFLOW || !cpu->ring) {
        cpu->nmi_unknown++;
        return;
    }
    cpu->nmi_spurious++;
    apic_pmi_enable();
}

static inline __attribute__((always_inline)) void in_program(const uint64_t *ip,
                                                             struct source source)
{
    struct cpu *cpu = cpu_this();

    if (__builtin_expect(run.mode != HR_MODE_OVERFLOW || !run.pmu->overflowed(&run.session), 0)) {
        unexplained(cpu);
        return;
    }
    sample(cpu, clock_entered(cpu), (uint32_t)cpu->enter_ticks, *ip, 0, source);
    if (cpu->stop_mask && ring_half_full(cpu->ring))
        apic_send(cpu->apic_id, VECTOR_WAKE); /* taken, and the ring drained, back in ring 3 */
}

void overflow_nmi(struct irq_frame *frame)
{
    in_program(&frame->rip, no_stack);
}

void overflow_nmi_saved(struct trap_frame *frame)
{
    in_program(&frame->rip, (struct source){.user = frame});
}

/* The workload clock in a kernel that may have stopped it. */
static uint64_t kernel_time(const struct cpu *cpu)
{
    uint64_t ticks = cpu->stop_mask && cpu->stopped_at ? cpu->stopped_at : x86_rdtsc();

    return ticks - *cpu->clock_offset;
}

static inline __attribute__((always_inline)) void in_kernel(struct cpu *cpu, const uint64_t *ip,
                                                            struct source source)
{
    uint32_t start = x86_rdtsc_low();

    if (run.mode != HR_MODE_OVERFLOW || !cpu->ring || !run.pmu->overflowed(&run.session)) {
        unexplained(cpu);
        return;
    }
    sample(cpu, kernel_time(cpu), start, *ip, HR_SAMPLE_KERNEL, source);
    if (cpu->held) /* it was on its way when they were held */
        run.pmu->pause(&run.session);
}

void overflow_nmi_in_kernel(struct irq_frame *frame, struct cpu *cpu)
{
    in_kernel(cpu, &frame->rip, no_stack);
}

void overflow_nmi_in_kernel_saved(struct irq_frame *frame, struct cpu *cpu, uint64_t fp)
{
    in_kernel(cpu, &frame->rip, (struct source){.kernel = frame, .kernel_fp = fp});
}

void overflow_start(struct cpu *cpu)
{
    cpu->overflow_period = run.session.period;
    cpu->overflow_kept_period = 0;
    cpu->overflow_base = 0;
    cpu->overflow_samples = 0;
    cpu->overflow_rate = (struct overflow_rate){0};
    cpu->overflow_time = cpu->overflow_latest = run.shared ? 0 : x86_rdtsc();
    if (!cpu->paused)
        apic_pmi_enable();
}

void overflow_stop(void)
{
    apic_pmi_disable();
}

/* What the first event counted so far, whatever NMIs come meanwhile. */
static uint64_t counted_so_far(const struct cpu *cpu)
{
    const volatile uint64_t *samples = &cpu->overflow_samples;
    uint64_t before, count;

    do {
        before = *samples;
        count = cpu->overflow_base + elapsed(cpu);
    } while (*samples != before);
    return count;
}

/* Sets the counter anew.  Nothing but an NMI that is on its way comes meanwhile; the driver enables
 * them again. */
static void set_period(struct cpu *cpu, uint64_t period)
{
    apic_pmi_disable();
    cpu->overflow_base = counted_so_far(cpu);
    cpu->overflow_period = period;
    run.pmu->rearm(&run.session, period);
}

void overflow_pause(struct cpu *cpu)
{
    if (cpu->overflow_kept_period) /* it rests already */
        return;
    cpu->overflow_kept_period = cpu->overflow_period;
    set_period(cpu, run.pmu_caps.period_max);
}

void overflow_resume(struct cpu *cpu, uint64_t now)
{
    cpu->overflow_time = now;
    set_period(cpu, cpu->overflow_kept_period);
    cpu->overflow_kept_period = 0;
}

void overflow_read(struct cpu *cpu, uint64_t *values)
{
    const volatile uint64_t *samples = &cpu->overflow_samples;
    uint64_t before;

    do { /* until no NMI came in between */
        before = *samples;
        run.pmu->read(&run.session, cpu->user_ticks, values);
        values[0] = cpu->overflow_base + elapsed(cpu);
    } while (*samples != before);
}
