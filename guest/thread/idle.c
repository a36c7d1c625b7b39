/* A CPU without a thread: the boot stack's loop. */
#include "guest/thread/idle.h"
#include "guest/sample/sampling.h"

#include "drivers/apic/apic.h"
#include "guest/base/run.h"
#include "guest/cpu/clock.h"
#include "guest/cpu/cross.h"
#include "guest/sample/sampler.h"
#include "guest/service/service.h"
#include "guest/service/service_asked.h"
#include "guest/service/service_cpu.h"
#include "guest/service/service_network.h"
#include "guest/thread/schedule.h"
#include "guest/thread/threads.h"
#include "guest/thread/timer.h"
#include "guest/thread/wait.h"
#include "lib/x86.h"

void idle_ends(struct cpu *cpu, uint64_t now)
{
    struct trace_slot *slot;

    if (!cpu->schedule.idle_tid || now == cpu->schedule.idle_since)
        return;
    slot = sampler_record(cpu, HR_REC_GAP, cpu->schedule.idle_since);
    slot->counters[0] = now;
    slot->counters[1] = cpu->schedule.idle_reason;
    slot->tid = cpu->schedule.idle_tid;
    sampling.trigger->close(cpu);
}

/* Shared mode: if a thread waits for the outside, waits for it, for `ns` of the host's clock.  The
 * workload clock advances by what passed until a frame of the network's came, and not for input.
 * Returns true if something came or the run is being stopped. */
static bool await_outside(struct cpu *cpu, uint64_t ns)
{
    uint64_t now = clock_stopped_time(cpu), passed_ns = 0;
    bool came;

    if (!schedule_outside.awaited())
        return false;
    clock_start(cpu);
    came = schedule_outside.wait(ns, &passed_ns);
    clock_stop(cpu);
    if (came)
        now += run_ns_to_ticks(passed_ns);
    *cpu->clock.offset = cpu->clock.stopped_at - now;
    sampler_rest();
    __atomic_store_n(&cpu->cross.running, false, __ATOMIC_RELEASE);
    service_check_stop();
    return came;
}

/* In shared mode only timers and input from outside can make a thread runnable. */
static void pass_time(struct cpu *cpu)
{
    uint64_t ticks = 0;

    service_cpu_poll();
    service_check_stop();
    service_asked_follow(cpu, clock_stopped_time(cpu), 0);
    if (service_network_take())
        return;
    if (cpu->schedule.timers != NULL && cpu->schedule.timers->due > clock_stopped_time(cpu))
        ticks = cpu->schedule.timers->due - clock_stopped_time(cpu);
    if ((ticks || cpu->schedule.timers == NULL) &&
        await_outside(cpu, cpu->schedule.timers != NULL ? run_ticks_to_ns(ticks) : WAIT_FOREVER))
        return;
    *cpu->clock.offset -= ticks;
    timer_expire(cpu, clock_stopped_time(cpu));
}

static void idle_halt(struct cpu *cpu)
{
    uint64_t now = x86_rdtsc();

    if (cpu->schedule.timers != NULL && cpu->schedule.timers->due <= now) {
        timer_expire(cpu, now);
        return;
    }
    if (cpu->schedule.timers != NULL)
        apic_timer_arm((int64_t)(cpu->schedule.timers->due - now));
    cross_unlock();
    x86_wait_for_interrupt();
    cross_lock(cpu);
    service_check_stop();
    service_asked_follow(cpu, x86_rdtsc(), 0);
}

void idle_loop(struct cpu *cpu)
{
    cross_lock(cpu);
    cpu->schedule.slice_end = cpu->trigger.attention_due = CPU_NEVER;
    if (run.shared)
        service_hold_counters(cpu);
    sampler_start(cpu, run.start_ticks);
    for (;;) {
        if (schedule_run_next(cpu))
            continue;
        if (schedule_stuck()) /* the last timer woke no thread */
            threads_deadlock(threads_any()->wait.what);
        if (run.shared)
            pass_time(cpu);
        else
            idle_halt(cpu);
    }
}
