/* Switches between threads, and counts the time that they use. */
#include "guest/thread/schedule_switch.h"

#include "guest/base/run.h"
#include "guest/cpu/clock.h"
#include "guest/cpu/entry.h"
#include "guest/sample/exact.h"
#include "guest/sample/sampler.h"
#include "guest/sample/sampling.h"
#include "guest/service/service.h"
#include "guest/thread/process.h"
#include "guest/thread/threads.h"
#include "guest/thread/wait_record.h"
#include "lib/x86.h"

void schedule_stop(struct cpu *cpu)
{
    clock_stop(cpu);
    service_hold_counters(cpu);
}

static void put_down(struct cpu *cpu, struct thread *thread, uint64_t now)
{
    uint64_t used = now - thread->schedule.running_since;
    uint64_t user = cpu->clock.user_ticks - thread->schedule.user_since;

    thread->schedule.used_ticks += used;
    thread->use.user_ticks += user;
    thread->process->used_ticks += used;
    thread->process->use.user_ticks += user;
    if (thread == cpu->schedule.dead)
        return;
    thread->schedule.fs_base = x86_rdmsr(X86_MSR_FS_BASE);
    thread->schedule.gs_base = x86_rdmsr(X86_MSR_KERNEL_GS_BASE);
    __asm__ volatile("xsave64 (%0)" ::"r"(thread->fpu_area), "a"(~0u), "d"(~0u) : "memory");
}

static void pick_up(struct cpu *cpu, struct thread *thread, uint64_t now)
{
    if (cpu->space != thread->process->space)
        vm_space_use(thread->process->space);
    x86_wrmsr(X86_MSR_FS_BASE, thread->schedule.fs_base);
    x86_wrmsr(X86_MSR_KERNEL_GS_BASE, thread->schedule.gs_base);
    __asm__ volatile("xrstor64 (%0)" ::"r"(thread->fpu_area), "a"(~0u), "d"(~0u) : "memory");
    cpu_set_kernel_stack(cpu, thread->stack_top);
    thread->schedule.cpu = cpu;
    thread->schedule.state = THREAD_RUNNING;
    thread->schedule.running_since = now;
    thread->schedule.user_since = cpu->clock.user_ticks;
    thread->schedule.started = true;
    thread->schedule.waker_tid = 0;
    thread->schedule.woken_at = 0;
    cpu->tid = thread->tid;
    exact_note(EXACT_NOTE_THREAD, thread->tid);
    schedule_begin_slice(cpu, now);
}

static void record_switch(struct cpu *cpu, const struct thread *from, const struct thread *to,
                          enum hr_switch_reason reason)
{
    struct trace_slot *slot = sampler_record(cpu, HR_REC_SWITCH, clock_stopped_time(cpu));

    slot->counters[0] = from != NULL ? from->tid : 0;
    slot->counters[1] = to != NULL ? to->tid : 0;
    slot->counters[2] = reason;
    slot->counters[3] = to != NULL ? to->schedule.waker_tid : 0;
    sampling.trigger->close(cpu);
}

/* Runs on the new thread's stack: frees a thread that ended on this CPU. */
static void schedule_bury(struct cpu *cpu)
{
    struct thread *dead = cpu->schedule.dead;

    cpu->schedule.dead = NULL;
    if (dead != NULL)
        threads_free(dead);
}

static void count_switch(struct thread *from, enum hr_switch_reason reason)
{
    if (reason == HR_SWITCH_BLOCK) {
        from->use.waits++;
        from->process->use.waits++;
    } else {
        from->use.preemptions++;
        from->process->use.preemptions++;
    }
}

void schedule_switch_to(struct cpu *cpu, struct thread *to, enum hr_switch_reason reason)
{
    struct thread *from = cpu->thread;
    uint64_t now = clock_stopped_time(cpu);

    if (from != NULL)
        sampler_leave(cpu, now, threads_frame(from)->rip);
    if (run.waits && to != NULL && to->schedule.woken_at)
        wait_record_end(cpu, to);
    record_switch(cpu, from, to, reason);
    cpu->activity.switches += from != NULL;
    cpu->activity.slices += reason == HR_SWITCH_SLICE;
    cpu->activity.blocks += reason == HR_SWITCH_BLOCK;
    if (from != NULL) {
        put_down(cpu, from, now);
        count_switch(from, reason);
    }
    if (to != NULL)
        pick_up(cpu, to, now);
    else
        cpu->tid = 0;
    __atomic_store_n(&cpu->cross.running, to != NULL, __ATOMIC_RELEASE);
    __atomic_store_n(&cpu->thread, to, __ATOMIC_RELEASE);
    switch_stacks(from != NULL ? &from->schedule.kernel_rsp : &cpu->schedule.idle_rsp,
                  to != NULL ? to->schedule.kernel_rsp : cpu->schedule.idle_rsp);
    schedule_bury(cpu_this());
}

void schedule_go_on(struct cpu *cpu)
{
    service_release_counters(cpu);
    sampler_resume(cpu, clock_stopped_time(cpu));
    clock_start(cpu);
}

/* Prepares the return to ring 3.  The entry code subtracts from the clock the time since it
 * stopped. */
void schedule_return(struct cpu *cpu)
{
    cpu->clock.enter_ticks = cpu->clock.stopped_at;
    service_release_counters(cpu);
    sampler_resume(cpu, clock_stopped_time(cpu));
}

void schedule_begin(struct cpu *cpu)
{
    schedule_bury(cpu);
    cpu->clock.enter_ticks = cpu->clock.stopped_at;
}

void schedule_enter(struct thread *thread)
{
    if (thread->schedule.between)
        schedule_go_on(thread->schedule.cpu);
}

void schedule_leave(struct thread *thread)
{
    if (thread->schedule.between)
        schedule_stop(thread->schedule.cpu);
}

/* ---- time used ---- */

uint64_t schedule_thread_ticks(const struct thread *thread)
{
    if (thread->schedule.state != THREAD_RUNNING)
        return thread->schedule.used_ticks;
    return thread->schedule.used_ticks + clock_now(cpu_this()) - thread->schedule.running_since;
}

uint64_t schedule_process_ticks(const struct process *process)
{
    uint64_t ticks = process->used_ticks;
    uint64_t now = clock_now(cpu_this());

    for (uint32_t i = 0; i < cpu_count; i++)
        if (cpus[i].thread != NULL && cpus[i].thread->process == process)
            ticks += now - cpus[i].thread->schedule.running_since;
    return ticks;
}

uint64_t schedule_thread_user_ticks(const struct thread *thread)
{
    uint64_t ticks = thread->use.user_ticks;

    if (thread->schedule.state == THREAD_RUNNING)
        ticks += thread->schedule.cpu->clock.user_ticks - thread->schedule.user_since;
    return ticks;
}

uint64_t schedule_process_user_ticks(const struct process *process)
{
    uint64_t ticks = process->use.user_ticks;

    for (uint32_t i = 0; i < cpu_count; i++)
        if (cpus[i].thread != NULL && cpus[i].thread->process == process)
            ticks += cpus[i].clock.user_ticks - cpus[i].thread->schedule.user_since;
    return ticks;
}
