/* The workload clock in nanoseconds. */
#include "guest/cpu/clock.h"

#include "guest/base/run.h"

uint64_t clock_monotonic_ns(void)
{
    return run_ticks_to_ns(clock_now(cpu_this()) - run.start_ticks);
}

uint64_t clock_realtime_ns(void)
{
    return run.start_unix_ns + clock_monotonic_ns();
}
