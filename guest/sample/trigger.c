/* The triggers that need no NMI, and the table of all. */
#include "guest/sample/trigger.h"

#include "drivers/apic/apic.h"
#include "guest/cpu/clock.h"
#include "guest/sample/sampler.h"
#include "guest/sample/sampler_take.h"
#include "guest/sample/sampling.h"

static void trigger_nothing(struct cpu *)
{
}

static void trigger_read(struct cpu *cpu, uint64_t *values)
{
    run.pmu->read(&sampling.session, cpu->clock.user_ticks, values);
}

static void trigger_poll(struct cpu *cpu, uint64_t ip, uint32_t flags)
{
    sampler_take(cpu, clock_entered(cpu), ip, flags | HR_SAMPLE_POLLED);
}

struct trace_slot *trigger_open(struct cpu *cpu)
{
    struct trace_slot *slot;

    while ((slot = ring_reserve(cpu->ring)) == NULL)
        sampler_await_room(cpu);
    return slot;
}

void trigger_close(struct cpu *cpu)
{
    ring_publish(cpu->ring);
}

static const struct trigger trigger_timer = {.timer = true,
                                             .prepare = trigger_nothing,
                                             .stop = apic_timer_stop,
                                             .pause = trigger_nothing,
                                             .resume = sampler_start,
                                             .read = trigger_read,
                                             .poll = trigger_poll,
                                             .open = trigger_open,
                                             .close = trigger_close};

/* Modes in which another CPU or the program asks for samples, or none are taken. */
const struct trigger trigger_asked = {.prepare = trigger_nothing,
                                      .stop = apic_timer_stop,
                                      .pause = trigger_nothing,
                                      .resume = sampler_start,
                                      .read = trigger_read,
                                      .poll = trigger_poll,
                                      .open = trigger_open,
                                      .close = trigger_close};

const struct trigger *trigger_of(enum hr_mode mode)
{
    return mode == HR_MODE_TIMER      ? &trigger_timer
           : mode == HR_MODE_OVERFLOW ? &trigger_overflow
           : mode == HR_MODE_PEBS     ? &trigger_pebs
                                      : &trigger_asked;
}
