/* The NMI handler of overflow sampling. */
#include "guest/sample/overflow.h"
#include "guest/sample/sampling.h"

#include "drivers/apic/apic.h"
#include "drivers/pmu/pmu.h"
#include "drivers/pmu/pmu_overflow.h"
#include "guest/base/layout.h"
#include "guest/base/run.h"
#include "guest/cpu/clock.h"
#include "guest/cpu/entry.h"
#include "guest/cpu/paravirt.h"
#include "guest/sample/ring.h"
#include "guest/sample/sample.h"
#include "guest/sample/share.h"
#include "guest/sample/stack.h"
#include "guest/transport/leave.h"

/* Returns what the first event's counter, which holds `value`, has counted since it was set to
 * minus the period. */
static inline uint64_t counted_to(const struct cpu *cpu, uint64_t value)
{
    return (value + cpu->overflow.period) & sampling.overflow_mask;
}

static inline uint64_t overflow_elapsed(const struct cpu *cpu)
{
    return counted_to(cpu, x86_rdpmc(sampling.session.events[0].counter));
}

/* Returns the wanted time between samples: that of the requested rate, or more if the program needs
 * it for its share.  Then counts the samples by which the requested rate was missed as skipped. */
static uint64_t wanted_ticks(struct cpu *cpu, uint64_t now)
{
    uint64_t least = sampling.share_factor ? cpu->share.seen_ticks + share_rest(cpu) : 0;
    uint64_t came = now - cpu->overflow.time;

    if (least <= sampling.wanted_ticks)
        return sampling.wanted_ticks;
    if (came >= 2 * sampling.wanted_ticks && cpu->overflow.time)
        share_skip(cpu, came / sampling.wanted_ticks - 1, now);
    return least;
}

/* Returns the period that follows this sample: an adapted one, or as many fixed ones as leave the
 * program its share. */
static uint64_t next_period(struct cpu *cpu, uint64_t now, uint64_t program_ticks, uint64_t counted)
{
    uint64_t periods = cpu->overflow.period / sampling.session.period;
    uint64_t period;

    if (sampling.wanted_ticks) {
        period = overflow_next_period(&cpu->overflow.rate, cpu->overflow.period, counted,
                                      now - cpu->overflow.time, wanted_ticks(cpu, now));
        if (period < sampling.period_min)
            period = sampling.period_min;
        return period < run.pmu_caps.period_max ? period : run.pmu_caps.period_max;
    }
    if (periods > 1)
        share_skip(cpu, periods - 1, now);
    periods = share_periods(cpu, program_ticks, periods);
    if (periods > run.pmu_caps.period_max / sampling.session.period)
        periods = run.pmu_caps.period_max / sampling.session.period;
    return periods * sampling.session.period;
}

/* Fills the slots that follow a sample in the ring, from slot `slots` on: stolen time, and a new
 * period.  Returns the number of slots. */
static uint32_t overflow_follow(struct cpu *cpu, uint64_t now, uint64_t program_ticks)
{
    struct ring *ring = cpu->ring;
    uint64_t period = next_period(cpu, now, program_ticks, cpu->overflow.counted);
    uint32_t slots = 1;
    struct trace_slot *slot;

    if (paravirt_steal_due(cpu))
        paravirt_steal_fill(cpu, ring_slot(ring, ring->reserved + slots++), now);
    if (period == cpu->overflow.period)
        return slots;
    slot = ring_slot(ring, ring->reserved + slots++);
    slot->time = now;
    slot->kind = HR_REC_PERIOD;
    slot->counters[0] = period;
    cpu->overflow.period = period;
    return slots;
}

/* Where to take the call stack from. */
struct source {
    const struct trap_frame *user; /* ring 3, all registers; NULL: ring 0, or no call stacks */
    const struct irq_frame *kernel; /* ring 0; or NULL */
    uint64_t kernel_fp;
};
static const struct source no_stack;

static inline __attribute__((always_inline)) void overflow_rearm(const struct cpu *cpu)
{
    pmu_overflow_arm(cpu->overflow.period, sampling.pmi_masks);
}

/* Ends the handling of an overflow whose sample is published.  `program`: it came in ring 3. */
static inline __attribute__((always_inline)) void overflow_end(struct cpu *cpu, uint64_t now,
                                                               bool program)
{
    cpu->overflow.time = cpu->overflow.latest = now;
    overflow_rearm(cpu);
    if (program && cpu->clock.stop_mask && ring_half_full(cpu->ring))
        apic_send(cpu->apic_id, VECTOR_WAKE); /* taken, and the ring drained, back in ring 3 */
}

static __attribute__((noinline)) void overflow_end_followed(struct cpu *cpu, uint64_t now,
                                                            uint64_t program_ticks, bool program)
{
    ring_publish_nmi(cpu->ring, overflow_follow(cpu, now, program_ticks));
    overflow_end(cpu, now, program);
}

/* As overflow_end, where the period may change.  Mostly it is one fixed period, after which the
 * program has had its share. */
static __attribute__((noinline)) void overflow_end_shared(struct cpu *cpu, uint64_t now,
                                                          uint64_t start, bool program)
{
    uint64_t program_ticks = sampling.share_factor ? share_handled(cpu, start) : 0;

    if (__builtin_expect(sampling.wanted_ticks || program_ticks < share_rest(cpu) ||
                             cpu->overflow.period != sampling.session.period ||
                             paravirt_steal_due(cpu),
                         0)) {
        overflow_end_followed(cpu, now, program_ticks, program);
        return;
    }
    ring_publish_nmi(cpu->ring, 1);
    overflow_end(cpu, now, program);
}

/* Takes the sample, for which there is room, sets the next period and lets the counter count again.
 */
static inline __attribute__((always_inline)) void overflow_take(struct cpu *cpu, uint64_t now,
                                                                const uint64_t *start,
                                                                const uint64_t *ip, uint32_t flags,
                                                                struct source source)
{
    struct ring *ring = cpu->ring;
    struct trace_slot *slot = ring_slot(ring, ring->reserved);

    pmu_store(&slot->counters[0], cpu->overflow.base); /* whole */
    sample_fill(slot, cpu, now, start, *ip, flags, &sampling.reader_others);
    if (source.user != NULL)
        stack_take(cpu, slot, source.user);
    if (source.kernel != NULL)
        stack_take_kernel(slot, cpu, source.kernel, source.kernel_fp);
    pmu_store_fence();
    if (__builtin_expect(sampling.follows, 0)) {
        overflow_end_shared(cpu, now, *start, !(flags & HR_SAMPLE_KERNEL));
        return;
    }
    ring_publish_nmi(ring, 1);
    overflow_end(cpu, now, !(flags & HR_SAMPLE_KERNEL));
}

/* Handles an overflow while sampling is paused, or with a ring that may be full.  A struct source
 * would be in memory, for every sample. */
static __attribute__((noinline)) void overflow_rare(struct cpu *cpu, uint64_t now,
                                                    const uint64_t *start, const uint64_t *ip,
                                                    uint32_t flags, const struct trap_frame *user,
                                                    const struct irq_frame *kernel,
                                                    uint64_t kernel_fp)
{
    const struct source source = {user, kernel, kernel_fp};

    if (cpu->trigger.paused) { /* the NMI was on its way already */
        overflow_rearm(cpu);
        return;
    }
    if (ring_reserve_nmi(cpu->ring, 3)) {
        overflow_take(cpu, now, start, ip, flags, source);
        return;
    }
    ring_drop(cpu->ring, now);
    share_handled(cpu, *start);
    overflow_end(cpu, now, !(flags & HR_SAMPLE_KERNEL));
}

/* Handles one overflow, whose counter holds `value`. */
static inline __attribute__((always_inline)) void
overflow_sample(struct cpu *cpu, uint64_t value, uint64_t now, const uint64_t *start,
                const uint64_t *ip, uint32_t flags, struct source source)
{
    uint64_t counted = counted_to(cpu, value);

    now = overflow_not_before(cpu, now);
    cpu->overflow.samples++;
    cpu->overflow.base += counted;
    cpu->overflow.counted = counted;
    if (__builtin_expect(cpu->trigger.paused || !ring_has_room_nmi(cpu->ring, 3), 0))
        overflow_rare(cpu, now, start, ip, flags, source.user, source.kernel, source.kernel_fp);
    else
        overflow_take(cpu, now, start, ip, flags, source);
}

/* Handles an NMI that no overflow explains: the second of two that arrived back to back, the
 * firmware's, or that of a panicking CPU. */
static __attribute__((noinline)) void unexplained(struct cpu *cpu)
{
    if (cpu->index == 0)
        leave_if_asked();
    cpu_stop_asked(cpu);
    if (!cpu_nmi_samples || cpu->ring == NULL) {
        cpu->overflow.nmi_unknown++;
        return;
    }
    cpu->overflow.nmi_spurious++;
    apic_pmi_enable();
}

static inline __attribute__((always_inline)) void in_program(const uint64_t *ip,
                                                             struct source source)
{
    struct cpu *cpu = cpu_this();
    uint64_t value;

    if (__builtin_expect(!cpu_nmi_samples || !pmu_overflow_look(&value), 0)) {
        unexplained(cpu);
        return;
    }
    overflow_sample(cpu, value, clock_entered(cpu), &cpu->clock.enter_ticks, ip, 0, source);
}

void overflow_nmi(struct irq_frame *frame)
{
    in_program(&frame->rip, no_stack);
}

void overflow_nmi_saved(struct trap_frame *frame)
{
    in_program(&frame->rip, (struct source){.user = frame});
}

/* Returns the workload clock inside the kernel, which may have stopped it. */
static uint64_t kernel_time(const struct cpu *cpu)
{
    uint64_t ticks =
        cpu->clock.stop_mask && cpu->clock.stopped_at ? cpu->clock.stopped_at : x86_rdtsc();

    return ticks - *cpu->clock.offset;
}

static inline __attribute__((always_inline)) void in_kernel(struct cpu *cpu, const uint64_t *ip,
                                                            struct source source)
{
    uint64_t start = x86_rdtsc();
    uint64_t value;

    if (!cpu_nmi_samples || cpu->ring == NULL || !pmu_overflow_look(&value)) {
        unexplained(cpu);
        return;
    }
    overflow_sample(cpu, value, kernel_time(cpu), &start, ip, HR_SAMPLE_KERNEL, source);
    if (cpu->held) /* the NMI was on its way when counters were held */
        run.pmu->pause(&sampling.session);
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
    cpu->overflow.period = sampling.session.period;
    cpu->overflow.kept_period = 0;
    cpu->overflow.base = 0;
    cpu->overflow.samples = 0;
    cpu->overflow.rate = (struct overflow_rate){0};
    cpu->share.returned = x86_rdtsc();
    cpu_nmi_samples = true;
    cpu->overflow.time = cpu->overflow.latest = run.shared ? 0 : x86_rdtsc();
    if (!cpu->trigger.paused)
        apic_pmi_enable();
}

void overflow_stop(void)
{
    apic_pmi_disable();
}

/* Returns what the first event counted so far, even if NMIs come during the call. */
static uint64_t counted_so_far(const struct cpu *cpu)
{
    const volatile uint64_t *samples = &cpu->overflow.samples;
    uint64_t before, count;

    do {
        before = *samples;
        count = cpu->overflow.base + overflow_elapsed(cpu);
    } while (*samples != before);
    return count;
}

/* Sets the counter to a new period.  Only an NMI that is already on its way can come during the
 * call; the driver enables NMIs again. */
static void set_period(struct cpu *cpu, uint64_t period)
{
    apic_pmi_disable();
    cpu->overflow.base = counted_so_far(cpu);
    cpu->overflow.period = period;
    pmu_overflow_arm(period, true);
}

void overflow_pause(struct cpu *cpu)
{
    if (cpu->overflow.kept_period) /* it is paused already */
        return;
    cpu->overflow.kept_period = cpu->overflow.period;
    set_period(cpu, run.pmu_caps.period_max);
}

void overflow_resume(struct cpu *cpu, uint64_t now)
{
    cpu->overflow.time = now;
    set_period(cpu, cpu->overflow.kept_period);
    cpu->overflow.kept_period = 0;
}

void overflow_read(struct cpu *cpu, uint64_t *values)
{
    const volatile uint64_t *samples = &cpu->overflow.samples;
    uint64_t before;

    do { /* until no NMI came in between */
        before = *samples;
        run.pmu->read(&sampling.session, cpu->clock.user_ticks, values);
        values[0] = cpu->overflow.base + overflow_elapsed(cpu);
    } while (*samples != before);
}
