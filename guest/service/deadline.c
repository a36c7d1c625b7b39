/* Time limits: of the program, and of a kernel that was told to stop it. */
#include "guest/service/deadline.h"
#include "guest/cpu/cpu.h"

#include <signal.h>

#include "guest/base/run.h"
#include "guest/service/service_cpu.h"
#include "guest/transport/transport.h"
#include "lib/x86.h"

#define HUNG_NS 10000000000ull
#define TIMEOUT_NS_MAX (1ull << 59) /* 18 years; in ticks fewer than 2^64 below 32 GHz */

static uint64_t due = CPU_NEVER; /* ticks of the workload clock; atomic */
static uint64_t given_up = CPU_NEVER; /* TSC */

void deadline_stop(void)
{
    service_cpu_stop(SIGKILL, true);
}

uint64_t deadline_start(void)
{
    uint64_t ticks;

    if (run.timeout_ns == 0 || run.timeout_ns > TIMEOUT_NS_MAX)
        return CPU_NEVER;
    ticks = run_ns_to_ticks(run.timeout_ns);
    if (ticks >= CPU_NEVER - run.start_ticks)
        return CPU_NEVER;
    if (!run.shared)
        __atomic_store_n(&due, run.start_ticks + ticks, __ATOMIC_RELEASE);
    return run.start_ticks + ticks;
}

static void look_for_hang(uint64_t now, bool served)
{
    if (given_up == CPU_NEVER || served)
        given_up = now + run_ns_to_ticks(HUNG_NS);
    else if ((int64_t)(now - given_up) >= 0)
        service_cpu_abandon();
}

void deadline_look(bool served)
{
    uint64_t now = x86_rdtsc();
    bool ends;

    if (now >= __atomic_load_n(&due, __ATOMIC_ACQUIRE))
        deadline_stop();
    ends = run_state.stop_signal || __atomic_load_n(&run_state.ending, __ATOMIC_ACQUIRE);
    if (ends && !transport->host)
        look_for_hang(now, served);
}
