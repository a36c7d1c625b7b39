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
    cpu->overflow.time = now;
    if (period == cpu->overflow.period)
        return slots;
    overflow_take_long(cpu);
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

/* After a sample in ring 3. */
static inline __attribute__((always_inline)) void drain_soon(const struct cpu *cpu)
{
    if (cpu->clock.stop_mask && ring_half_full(cpu->ring))
        apic_send(cpu->apic_id, VECTOR_WAKE); /* taken, and the ring drained, back in ring 3 */
}

/* Ends the handling of an overflow whose sample is published.  `program`: it came in ring 3. */
static inline __attribute__((always_inline)) void overflow_end(struct cpu *cpu, uint64_t now,
                                                               bool program)
{
    cpu->overflow.latest = now;
    overflow_rearm(cpu);
    if (cpu->overflow.alike)
        overflow_find_way(cpu);
    if (program)
        drain_soon(cpu);
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
    if (ring_reserve_nmi(cpu->ring, OVERFLOW_SLOTS)) {
        overflow_take(cpu, now, start, ip, flags, source);
        return;
    }
    ring_drop(cpu->ring, now);
    cpu->brief.room = 0;
    share_handled(cpu, *start);
    cpu->overflow.time = now;
    overflow_end(cpu, now, !(flags & HR_SAMPLE_KERNEL));
}

/* Counts an overflow after `counted` events.  Returns its sample's time. */
static inline __attribute__((always_inline)) uint64_t overflow_count(struct cpu *cpu,
                                                                     uint64_t counted, uint64_t now)
{
    cpu->overflow.samples++;
    cpu->overflow.base += counted;
    return overflow_not_before(cpu, now);
}

/* Handles one overflow, whose counter holds `value`. */
static inline __attribute__((always_inline)) void
overflow_sample(struct cpu *cpu, uint64_t value, uint64_t now, const uint64_t *start,
                const uint64_t *ip, uint32_t flags, struct source source)
{
    cpu->overflow.counted = overflow_counted(cpu, value);
    now = overflow_count(cpu, cpu->overflow.counted, now);
    if (__builtin_expect(cpu->trigger.paused || !ring_has_room_nmi(cpu->ring, OVERFLOW_SLOTS), 0))
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

/* Ends a short way. */
static inline __attribute__((always_inline)) void end_short(struct cpu *cpu, uint64_t now,
                                                            bool plain)
{
    ring_publish_nmi(cpu->ring, 1);
    cpu->overflow.latest = now;
    pmu_overflow_arm_short(plain, sampling.pmi_masks);
    drain_soon(cpu);
}

static inline __attribute__((always_inline)) void end_short_shared(struct cpu *cpu, uint64_t now,
                                                                   bool plain)
{
    uint64_t program_ticks = share_handled(cpu, cpu->clock.enter_ticks);

    if (!cpu->clock.stop_mask)
        overflow_find_room(cpu); /* the ring's limit may have grown */
    if (__builtin_expect(program_ticks < share_rest(cpu) || paravirt_steal_due(cpu), 0))
        overflow_end_followed(cpu, now, program_ticks, true);
    else
        end_short(cpu, now, plain);
}

static __attribute__((noinline)) void end_plain_shared(struct cpu *cpu, uint64_t now)
{
    end_short_shared(cpu, now, true);
}

static __attribute__((noinline)) void end_bare_shared(struct cpu *cpu, uint64_t now)
{
    end_short_shared(cpu, now, false);
}

static __attribute__((noinline)) void
no_room_short(struct cpu *cpu, uint64_t now, const uint64_t *ip, const struct trap_frame *user)
{
    overflow_rare(cpu, now, &cpu->clock.enter_ticks, ip, 0, user, NULL, 0);
}

/* A short way: nothing is asked that cpu->overflow.way says. */
static inline __attribute__((always_inline)) void
in_program_short(struct cpu *cpu, const uint64_t *ip, const struct trap_frame *user, bool plain)
{
    uint64_t value, now;
    struct trace_slot *slot;

    if (__builtin_expect(!pmu_overflow_look_short(plain, &value), 0)) {
        unexplained(cpu);
        return;
    }
    now = overflow_count(cpu, overflow_counted(cpu, value), clock_entered(cpu));
    if (__builtin_expect(!ring_has_room_nmi(cpu->ring, OVERFLOW_SLOTS), 0)) {
        no_room_short(cpu, now, ip, user);
        return;
    }
    slot = ring_slot(cpu->ring, cpu->ring->reserved);
    pmu_store(&slot->counters[0], cpu->overflow.base);
    sample_store_head(slot, cpu, now, *ip);
    pmu_read_by(&sampling.reader_others, slot->counters);
    sample_store_cost(slot, &cpu->clock.enter_ticks, 0);
    if (user != NULL)
        stack_walk(stack_of(slot), user->rbp, cpu);
    pmu_store_fence();
    if (__builtin_expect(sampling.share_factor == 0, 1))
        end_short(cpu, now, plain);
    else if (plain)
        end_plain_shared(cpu, now);
    else
        end_bare_shared(cpu, now);
}

static inline __attribute__((always_inline)) void
in_program_long(struct cpu *cpu, const uint64_t *ip, struct source source)
{
    uint64_t value;

    if (__builtin_expect(!cpu_nmi_samples || !pmu_overflow_look(&value), 0)) {
        unexplained(cpu);
        return;
    }
    overflow_sample(cpu, value, clock_entered(cpu), &cpu->clock.enter_ticks, ip, 0, source);
}

static __attribute__((noinline)) void nmi_other(struct cpu *cpu, const struct irq_frame *frame)
{
    if (cpu->overflow.way == OVERFLOW_BARE)
        in_program_short(cpu, &frame->rip, NULL, false);
    else
        in_program_long(cpu, &frame->rip, no_stack);
}

static __attribute__((noinline)) void nmi_saved_other(struct cpu *cpu,
                                                      const struct trap_frame *frame)
{
    if (cpu->overflow.way == OVERFLOW_BARE)
        in_program_short(cpu, &frame->rip, frame, false);
    else
        in_program_long(cpu, &frame->rip, (struct source){.user = frame});
}

void overflow_nmi(struct irq_frame *frame)
{
    struct cpu *cpu = cpu_this();

    if (__builtin_expect(cpu->overflow.way == OVERFLOW_PLAIN, 1))
        in_program_short(cpu, &frame->rip, NULL, true);
    else
        nmi_other(cpu, frame);
}

void overflow_nmi_saved(struct trap_frame *frame)
{
    struct cpu *cpu = cpu_this();

    if (__builtin_expect(cpu->overflow.way == OVERFLOW_PLAIN, 1))
        in_program_short(cpu, &frame->rip, frame, true);
    else
        nmi_saved_other(cpu, frame);
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
