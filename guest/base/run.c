/* The run, and its clock's ticks as nanoseconds. */
#include "guest/base/run.h"

#include "guest/base/image.h"
#include "lib/muldiv.h"

#define NS_PER_SECOND 1000000000ull

SEALED struct run_config run;
struct run_state run_state;

uint32_t run_program_cpu(uint32_t index)
{
    return run.shared ? 0 : index - 1;
}

uint64_t run_ticks_to_ns(uint64_t ticks)
{
    if (run.clock.hz == NS_PER_SECOND)
        return ticks;
    return muldiv(ticks, NS_PER_SECOND, run.clock.hz);
}

uint64_t run_ns_to_ticks(uint64_t ns)
{
    if (run.clock.hz == NS_PER_SECOND)
        return ns;
    return muldiv(ns, run.clock.hz, NS_PER_SECOND);
}
