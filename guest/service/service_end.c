/* The end of a run, on the workload CPUs. */
#include <signal.h>

#include "guest/base/log.h"
#include "guest/base/panic.h"
#include "guest/base/refused.h"
#include "guest/base/run.h"
#include "guest/cpu/clock.h"
#include "guest/cpu/cross.h"
#include "guest/memory/phys.h"
#include "guest/sample/sampler.h"
#include "guest/sample/sampling.h"
#include "guest/service/service.h"
#include "guest/service/service_asked.h"
#include "guest/service/service_cpu.h"
#include "guest/thread/pages.h"
#include "guest/thread/threads.h"
#include "guest/trace/machine.h"
#include "lib/x86.h"

#define WAITED_NS 1000000u /* a call that took longer has waited */

static struct service_fault noted_fault;

void service_note_fault(const struct service_fault *fault)
{
    noted_fault = fault != NULL ? *fault : (struct service_fault){0};
}

/* For a signal without a fault (abort, a stop by the host): where the program was, or where some
 * thread waits if this CPU is idle. */
static void note_position(struct cpu *cpu, uint32_t signal)
{
    const struct thread *thread = cpu->thread != NULL ? cpu->thread : threads_any();

    noted_fault = (struct service_fault){.vector = HR_FAULT_NO_EXCEPTION, .signal = signal};
    if (thread == NULL)
        return;
    noted_fault.ip = threads_frame(thread)->rip;
    cpu->tid = thread->tid;
}

/* Counting ends on this CPU. */
static void stop_counting(struct cpu *cpu)
{
    __atomic_store_n(&cpu->cross.running, false, __ATOMIC_RELEASE);
    run.pmu->stop(&sampling.session);
    sampling.trigger->read(cpu, cpu->totals);
    machine_stop(cpu);
}

static void record_end(struct cpu *cpu)
{
    struct trace_slot *slot = sampler_record(cpu, HR_REC_SWITCH, x86_rdtsc());

    slot->counters[0] = cpu->tid;
    slot->counters[2] = HR_SWITCH_EXIT;
    sampling.trigger->close(cpu);
}

void service_stop_here(struct cpu *cpu)
{
    sampling.trigger->stop();
    if (cpu->tid)
        record_end(cpu);
    stop_counting(cpu);
    __atomic_store_n(&cpu->cross.stopped, true, __ATOMIC_RELEASE);
    for (;;)
        x86_wait_for_interrupt();
}

static uint64_t all_user_ticks(void)
{
    uint64_t ticks = 0;

    for (uint32_t i = 0; i < cpu_count; i++)
        ticks += cpus[i].clock.user_ticks;
    return ticks;
}

/* Returns when the program ended: when its thread entered the kernel, unless the thread has waited
 * since, for the clock stood still while it did. */
static uint64_t end_time(const struct cpu *cpu)
{
    uint64_t now = clock_now(cpu), entered = clock_entered(cpu);

    if (cpu->thread == NULL || (int64_t)(entered - cpu->thread->schedule.running_since) < 0)
        return now;
    return now - entered < run_ns_to_ticks(WAITED_NS) ? entered : now;
}

void service_exit(uint32_t kind, uint32_t code)
{
    struct cpu *cpu = cpu_this();
    struct hr_rec_exit report = {
        .time = end_time(cpu), .kind = kind, .code = code, .peak_memory_bytes = phys_peak_bytes()};

    clock_stop(cpu);
    sampling.trigger->stop();
    run.boot->result.exit_kind = kind;
    run.boot->result.exit_code = code;
    __atomic_store_n(&run_state.ending, true, __ATOMIC_RELEASE);
    test_hook("end");
    if (cross_several)
        cross_stop_others(cpu);
    report.user_ticks = all_user_ticks();
    if (kind == HR_EXIT_SIGNAL || kind == HR_EXIT_TIMEOUT) {
        struct trace_slot *slot;

        if (noted_fault.signal != code)
            note_position(cpu, code);
        slot = sampler_record(cpu, HR_REC_FAULT, report.time);
        slot->ip = noted_fault.ip;
        slot->counters[0] = noted_fault.address;
        slot->counters[1] = noted_fault.vector;
        slot->counters[2] = noted_fault.error;
        slot->counters[3] = noted_fault.signal;
        sampling.trigger->close(cpu);
    }
    pages_end(cpu, report.time);
    stop_counting(cpu);
    refused_report();
    if (kind == HR_EXIT_STATUS)
        process_log_left();
    service_call(cpu, SERVICE_EXIT, (uint64_t)&report, 0);
    for (;;)
        x86_wait_for_interrupt();
}

void service_out_of_memory(void)
{
    log_notice("out of memory: the program needs more than --mem gives it");
    service_exit(HR_EXIT_SIGNAL, SIGKILL);
}

void service_refuse(uint32_t error)
{
    const struct hr_rec_exit report = {.time = run.start_ticks,
                                       .kind = HR_EXIT_REFUSED,
                                       .code = error,
                                       .peak_memory_bytes = phys_peak_bytes()};

    service_cpu_perform(cpu_this(), SERVICE_EXIT, (uint64_t)&report, 0);
    panic("the run did not end");
}

void service_check_stop(void)
{
    struct cpu *cpu = cpu_this();

    if (!run_state.started || !run_state.stop_signal)
        return;
    if (cpu->thread != NULL && service_asked_remind(cpu)) /* that comes first, then this again */
        return;
    service_asked_follow(cpu, clock_now(cpu), 0);
    service_exit(run_state.stop_is_timeout ? HR_EXIT_TIMEOUT : HR_EXIT_SIGNAL,
                 run_state.stop_signal);
}
