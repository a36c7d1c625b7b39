/* Counters that stand still during service work. */
#include "guest/base/run.h"
#include "guest/cpu/cpu.h"
#include "guest/sample/sampling.h"
#include "guest/service/service.h"

/* In shared mode service work is not the program's: counters that count ring 0 stand still. */
void service_hold_counters(struct cpu *cpu)
{
    if (cpu->clock.stop_mask && run.counts_kernel && cpu->held++ == 0)
        run.pmu->pause(&sampling.session);
}

void service_release_counters(struct cpu *cpu)
{
    if (cpu->clock.stop_mask && run.counts_kernel && --cpu->held == 0)
        run.pmu->resume(&sampling.session);
}
