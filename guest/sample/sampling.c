/* What the sampler does in the run. */
#include "guest/sample/sampling.h"

#include "guest/base/image.h"
#include "guest/cpu/cpu.h"
#include "guest/sample/sampler.h"

SEALED struct sampling sampling = {.mode = HR_MODE_OFF, .trigger = &trigger_asked};

void sampling_set_mode(enum hr_mode mode)
{
    sampling.mode = mode;
    sampling.trigger = trigger_of(mode);
    sampling.polls = mode != HR_MODE_OFF && mode != HR_MODE_PEBS;
}

/* For drivers whose code follows the rules of C: the compiler saves all registers around it. */
static __attribute__((no_caller_saved_registers)) void read_by_driver(uint64_t *values)
{
    run.pmu->read(&sampling.session, cpu_this()->clock.user_ticks, values);
}

/* Also in an NMI, where GS may be the program's.  No driver with interrupts computes its values. */
static __attribute__((no_caller_saved_registers)) void read_others_by_driver(uint64_t *values)
{
    run.pmu->read_others(&sampling.session, 0, values);
}

void sampling_choose_reader(void)
{
    uint32_t count = sampling.session.event_count;
    bool own = run.pmu->reader != NULL;

    sampling.reader = own ? run.pmu->reader(count, false) : (pmu_reader *)(uintptr_t)read_by_driver;
    sampling.reader_others =
        own ? run.pmu->reader(count, true) : (pmu_reader *)(uintptr_t)read_others_by_driver;
}

uint32_t sampling_values(void)
{
    return trace_slot_values(sampling.session.event_count, sampling.probe_arguments,
                             sampling.precise, sampling.session.registers);
}

bool sampling_whole(uint32_t i)
{
    return (sampling.trigger->nmi && i == 0) ||
           (sampling.precise && sampling.session.events[i].record_period);
}

void sampling_start(void)
{
    const struct run_asked *asked = &run.asked;

    sampling_set_mode(asked->mode);
    sampling_choose_reader();
    sampling.interval_ticks = asked->interval_ticks;
    sampling.wanted_ticks = asked->wanted_ticks;
    sampling.counters_rest = asked->counters_rest;
    if (sampling.period < asked->period)
        sampling.period = asked->period;
    sampling.session.period = asked->mode == HR_MODE_OVERFLOW ? sampling.period : 0;
    sampling.session.precise = sampling.precise;
    if (sampling.precise)
        cpu_empty_first();
    sampling.follows = sampling.wanted_ticks || sampling.share_factor;
    sampler_paused = asked->paused;
}
