/* The observer of --mode ipi: watches the clock and has all CPUs sample themselves at the same grid
 * points. */
#include "guest/sample/observer.h"

#include "drivers/apic/apic.h"
#include "guest/base/run.h"
#include "guest/sample/sample.h"
#include "guest/sample/sampler.h"
#include "lib/x86.h"

#define NAP_NS 200000u /* it halts while the next grid point is farther away */
#define NAP_LEAD_NS 100000u /* and is back this long before */

static void wait_until(uint64_t due, uint64_t nap_ticks, uint64_t lead_ticks)
{
    int64_t left;

    while ((left = (int64_t)(due - x86_rdtsc())) > 0) {
        if ((uint64_t)left > nap_ticks) {
            apic_timer_arm(left - (int64_t)lead_ticks);
            x86_wait_for_interrupt();
        } else {
            x86_pause();
        }
    }
}

void observer_loop(struct cpu *)
{
    uint64_t nap_ticks = run_ns_to_ticks(NAP_NS), lead_ticks = run_ns_to_ticks(NAP_LEAD_NS);
    uint64_t due = run.start_ticks;

    apic_timer_setup(VECTOR_SERVICE_TIMER);
    for (;;) {
        due = sample_next_due(due, x86_rdtsc());
        wait_until(due, nap_ticks, lead_ticks);
        for (uint32_t i = 1; i < cpu_count; i++)
            if (cpus[i].ring != NULL)
                sampler_ask(&cpus[i], due);
    }
}
