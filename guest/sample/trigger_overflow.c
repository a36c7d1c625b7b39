/* Overflow sampling outside its handler: an NMI may come between any two instructions. */
#include <string.h>

#include "drivers/apic/apic.h"
#include "drivers/pmu/pmu.h"
#include "drivers/pmu/pmu_overflow.h"
#include "guest/base/run.h"
#include "guest/cpu/clock.h"
#include "guest/sample/overflow.h"
#include "guest/sample/ring.h"
#include "guest/sample/sampler.h"
#include "guest/sample/sampler_take.h"
#include "guest/sample/sampling.h"
#include "guest/sample/stack.h"
#include "guest/sample/trigger.h"

void overflow_start(struct cpu *cpu)
{
    cpu->overflow.period = sampling.session.period;
    cpu->overflow.kept_period = 0;
    cpu->overflow.base = 0;
    cpu->overflow.samples = 0;
    cpu->overflow.rate = (struct overflow_rate){0};
    overflow_take_long(cpu);
    cpu->overflow.alike = !sampling.counters_rest && !sampling.wanted_ticks &&
                          (!run.stacks.kind || run.stacks.kind == HR_STACK_FP);
    cpu->share.returned = x86_rdtsc();
    cpu_nmi_samples = true;
    cpu->overflow.time = cpu->overflow.latest = run.shared ? 0 : x86_rdtsc();
    if (!cpu->trigger.paused)
        apic_pmi_enable();
}

void overflow_stop(void)
{
    apic_pmi_disable();
    overflow_take_long(cpu_this()); /* it may be past 0 when an NMI comes for another reason */
}

static uint64_t counted_since(const struct cpu *cpu)
{
    return overflow_counted(cpu, x86_rdpmc(sampling.session.events[0].counter));
}

/* Returns what the first event counted so far, even if NMIs come during the call. */
static uint64_t counted_so_far(const struct cpu *cpu)
{
    const volatile uint64_t *samples = &cpu->overflow.samples;
    uint64_t before, count;

    do {
        before = *samples;
        count = cpu->overflow.base + counted_since(cpu);
    } while (*samples != before);
    return count;
}

/* Sets the counter to a new period.  Only an NMI that is already on its way can come during the
 * call; the driver enables NMIs again. */
static void set_period(struct cpu *cpu, uint64_t period)
{
    apic_pmi_disable();
    overflow_take_long(cpu);
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
        values[0] = cpu->overflow.base + counted_since(cpu);
    } while (*samples != before);
}

static struct trace_slot *overflow_open(struct cpu *cpu)
{
    struct trace_slot *slot;

    if (cpu->clock.stop_mask && ring_half_full(cpu->ring))
        sampler_drain(cpu); /* nothing else drains it during a long stay in the kernel */
    while ((slot = ring_open(cpu->ring)) == NULL)
        sampler_await_room(cpu);
    return slot;
}

static void overflow_close(struct cpu *cpu)
{
    ring_close(cpu->ring);
}

/* Opens a slot and reads the counters just before.  No NMI comes between the two, so that counts
 * and times of samples grow in their order. */
static struct trace_slot *open_reading(struct cpu *cpu, uint64_t *values, uint64_t *time)
{
    struct trace_slot *slot;

    do {
        uint64_t reserved;

        if (cpu->clock.stop_mask && ring_half_full(cpu->ring))
            sampler_drain(cpu);
        reserved = ring_reserved(cpu->ring);
        *time = overflow_not_before(cpu, clock_entered(cpu));
        overflow_read(cpu, values);
        slot = ring_open_at(cpu->ring, reserved);
    } while (slot == NULL);
    cpu->overflow.latest = overflow_not_before(cpu, *time); /* an NMI may have come since */
    return slot;
}

static void overflow_poll(struct cpu *cpu, uint64_t ip, uint32_t flags)
{
    uint64_t values[HR_EVENTS_MAX], time;
    struct trace_slot *slot = open_reading(cpu, values, &time);
    slot->time = time; /* field by field: a small slot is half the struct */
    slot->ip = ip;
    slot->tid = cpu->tid;
    slot->cost_ticks = 0;
    slot->flags = (uint8_t)(flags | HR_SAMPLE_POLLED);
    slot->kind = 0;
    memcpy(slot->counters, values, sampling.session.event_count * sizeof *values);
    if (stack_frame(cpu) != NULL)
        stack_take(cpu, slot, stack_frame(cpu));
    pmu_store_fence();
    ring_close(cpu->ring);
}

static void overflow_unpause(struct cpu *cpu, uint64_t now)
{
    overflow_resume(cpu, overflow_not_before(cpu, now));
}

const struct trigger trigger_overflow = {.nmi = true,
                                         .prepare = overflow_start,
                                         .stop = overflow_stop,
                                         .pause = overflow_pause,
                                         .resume = overflow_unpause,
                                         .read = overflow_read,
                                         .poll = overflow_poll,
                                         .open = overflow_open,
                                         .close = overflow_close};
