/* Precise sampling as a trigger: what starts it, and what its events have counted. */
#include "drivers/apic/apic.h"
#include "guest/cpu/clock.h"
#include "guest/sample/pebs.h"
#include "guest/sample/sampler.h"
#include "guest/sample/sampling.h"
#include "guest/sample/trigger.h"

/* Returns what an event has counted since its counter was last set, of what the counter holds;
 * where only records count it, nothing. */
static uint64_t since_set(const struct pebs *pebs, uint32_t i, uint64_t value)
{
    const struct pmu_event *event = &sampling.session.events[i];

    if (run.pmu_caps.sampled_records)
        return 0;
    return (value - pmu_precise_preset(event, pebs->armed[i])) & ~0ull >> (64 - event->width_bits);
}

static void pebs_read(struct cpu *cpu, uint64_t *values)
{
    run.pmu->read(&sampling.session, cpu->clock.user_ticks, values);
    for (uint32_t i = 0; i < sampling.session.event_count; i++)
        if (sampling.session.events[i].record_period)
            values[i] = cpu->pebs->whole[i] + since_set(cpu->pebs, i, values[i]);
}

/* From here on each event's next record comes a whole period from now. */
static void pebs_begin(struct cpu *cpu)
{
    for (uint32_t i = 0; i < sampling.session.event_count; i++)
        cpu->pebs->armed[i] = cpu->pebs->next[i] = sampling.session.events[i].record_period;
    cpu->pebs->emptied = x86_rdtsc();
    apic_pmi_interrupt(VECTOR_PRECISE);
    run.pmu->precise_start(&sampling.session, &cpu->pebs->area);
}

/* The driver's start follows, which sets the counters. */
static void pebs_prepare(struct cpu *cpu)
{
    cpu_empty_at_calls();
    pebs_begin(cpu);
}

static void pebs_pause(struct cpu *)
{
    run.pmu->precise_stop(&sampling.session);
}

static void pebs_resume(struct cpu *cpu, uint64_t)
{
    uint64_t values[HR_EVENTS_MAX];

    pebs_read(cpu, values);
    for (uint32_t i = 0; i < sampling.session.event_count; i++)
        cpu->pebs->whole[i] = values[i];
    pebs_begin(cpu);
}

static void pebs_stop(void)
{
    run.pmu->precise_stop(&sampling.session);
    apic_pmi_disable();
}

/* A sample is a record of the processor's: the program cannot ask for one. */
static void pebs_poll(struct cpu *, uint64_t /* ip */, uint32_t /* flags */)
{
}

int pebs_try(void)
{
    int status = run.pmu->precise_start(&sampling.session, &cpu_this()->pebs->area);

    run.pmu->precise_stop(&sampling.session);
    return status;
}

const struct trigger trigger_pebs = {.prepare = pebs_prepare,
                                     .stop = pebs_stop,
                                     .pause = pebs_pause,
                                     .resume = pebs_resume,
                                     .read = pebs_read,
                                     .poll = pebs_poll,
                                     .open = trigger_open,
                                     .close = trigger_close};
