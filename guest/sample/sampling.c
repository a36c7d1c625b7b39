/* What the sampler does in the run. */
#include "guest/sample/sampling.h"

#include "guest/base/image.h"
#include "guest/sample/sampler.h"

SEALED struct sampling sampling;

void sampling_start(void)
{
    const struct run_asked *asked = &run.asked;

    sampling.mode = asked->mode;
    sampling.interval_ticks = asked->interval_ticks;
    sampling.wanted_ticks = asked->wanted_ticks;
    sampling.counters_rest = asked->counters_rest;
    if (sampling.period < asked->period)
        sampling.period = asked->period;
    sampling.session.period = asked->mode == HR_MODE_OVERFLOW ? sampling.period : 0;
    sampling.follows = sampling.wanted_ticks || sampling.share_factor;
    sampler_paused = asked->paused;
}
