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
