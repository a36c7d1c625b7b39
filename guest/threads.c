/* Starts and ends threads on the workload CPUs. */
#include "guest/threads.h"

#include <string.h>

#include "drivers/apic/apic.h"
#include "guest/cross.h"
#include "guest/futex.h"
#include "guest/input.h"
#include "guest/run.h"
#include "guest/sampler.h"
#include "guest/signal.h"
#include "guest/syscall_handlers.h"
#include "lib/x86.h"

static struct thread table[THREADS_MAX];
static uint32_t count;
static uint32_t next_tid;

struct thread *threads_first(struct process *process, struct cpu *cpu)
{
    struct thread *thread = &table[0];

    *thread = (struct thread){.process = process, .tid = process->pid, .cpu = cpu};
    next_tid = process->pid + 1;
    count = 1;
    return thread;
}

struct thread *threads_find(uint32_t tid)
{
    for (uint32_t i = 0; i < THREADS_MAX; i++)
        if (table[i].cpu && table[i].tid == tid)
            return &table[i];
    return NULL;
}

uint32_t threads_count(void)
{
    return count;
}

void threads_each(void (*visit)(struct thread *thread, void *context), void *context)
{
    for (uint32_t i = 0; i < THREADS_MAX; i++)
        if (table[i].cpu)
            visit(&table[i], context);
}

struct cpu *threads_idle_cpu(void)
{
    for (uint32_t i = 1; i < cpu_count; i++)
        if (cpus[i].ring && !cpus[i].thread)
            return &cpus[i];
    return NULL;
}

/* There are at least as many entries as CPUs. */
static struct thread *new_entry(void)
{
    uint32_t i = 0;

    while (table[i].cpu)
        i++;
    return &table[i];
}

struct thread *threads_clone(const struct thread *parent, const struct trap_frame *frame,
                             struct cpu *cpu)
{
    struct thread *thread = new_entry();

    *thread = (struct thread){.process = parent->process,
                              .tid = next_tid++,
                              .signal_mask = parent->signal_mask,
                              .cpu = cpu,
                              .start = *frame,
                              .fs_base = x86_rdmsr(X86_MSR_FS_BASE),
                              .gs_base = x86_rdmsr(X86_MSR_KERNEL_GS_BASE),
                              .has_fpu = true};
    memcpy(thread->name, parent->name, sizeof thread->name);
    thread->start.rax = 0;
    __asm__ volatile("xsave64 (%0)" ::"r"(cpu->fpu_area), "a"(~0u), "d"(~0u) : "memory");
    count++;
    return thread;
}

void threads_start(struct thread *thread)
{
    __atomic_store_n(&thread->cpu->thread, thread, __ATOMIC_RELEASE);
    cross_call(thread->cpu);
}

void threads_record_switch(struct cpu *cpu, uint64_t time, uint32_t from, uint32_t to,
                           enum hr_switch_reason reason)
{
    struct trace_slot *slot = sampler_record(cpu, HR_REC_SWITCH, time);

    slot->counters[0] = from;
    slot->counters[1] = to;
    slot->counters[2] = reason;
    sampler_record_end(cpu);
}

/* The trigger follows the thread; grid points are the same on every CPU. */
static void start_sampling(struct cpu *cpu, uint64_t now)
{
    uint64_t passed = (now - run.start_ticks) % run.interval_ticks;

    if (run.paused) {
        sampler_pause(cpu);
    } else if (cpu->paused) {
        sampler_unpause(cpu, now - passed);
    } else {
        sampler_start(cpu, now - passed);
    }
    __atomic_store_n(&cpu->running, true, __ATOMIC_RELEASE);
}

/* Runs the thread until it ends; then the kernel lock is held. */
static void run_thread(struct cpu *cpu, struct thread *thread)
{
    uint64_t now = x86_rdtsc();

    x86_write_cr3(thread->process->space.root);
    x86_wrmsr(X86_MSR_FS_BASE, thread->fs_base);
    x86_wrmsr(X86_MSR_KERNEL_GS_BASE, thread->gs_base);
    if (thread->has_fpu)
        __asm__ volatile("xrstor64 (%0)" ::"r"(cpu->fpu_area), "a"(~0u), "d"(~0u) : "memory");
    cpu->tid = thread->tid;
    thread->running_since = now;
    threads_record_switch(cpu, now, 0, thread->tid, HR_SWITCH_START);
    start_sampling(cpu, now);
    user_enter(&thread->start);
    memset(thread, 0, sizeof *thread);
    __atomic_store_n(&cpu->thread, NULL, __ATOMIC_RELEASE);
}

void threads_loop(struct cpu *cpu)
{
    for (;;) {
        struct thread *thread;

        while (!(thread = __atomic_load_n(&cpu->thread, __ATOMIC_ACQUIRE))) {
            cross_answer(cpu);
            x86_wait_for_interrupt();
        }
        run_thread(cpu, thread);
        cross_unlock();
    }
}

void threads_exit(struct thread *thread)
{
    struct cpu *cpu = thread->cpu;
    uint64_t now = x86_rdtsc();

    futex_thread_ends(thread);
    signal_thread_ends(thread);
    if (!input_awaited() && threads_stuck(thread))
        syscall_deadlock(thread, "the last running thread ended");
    __atomic_store_n(&cpu->running, false, __ATOMIC_RELEASE);
    if (run.mode == HR_MODE_TIMER)
        apic_timer_stop();
    threads_record_switch(cpu, now, thread->tid, 0, HR_SWITCH_EXIT);
    thread->process->ended_ticks += threads_used_ticks(thread);
    cpu->tid = 0;
    count--;
    user_leave(); /* to run_thread, off this stack */
}

bool threads_stuck(const struct thread *leaving)
{
    for (uint32_t i = 0; i < THREADS_MAX; i++) {
        const struct thread *t = &table[i];

        if (t->cpu && t != leaving &&
            (!t->waiting || !t->forever || t->woken || signal_waits_for(t)))
            return false;
    }
    return true;
}

uint64_t threads_used_ticks(const struct thread *thread)
{
    return thread->used_ticks + (thread->waiting ? 0 : x86_rdtsc() - thread->running_since);
}

uint64_t threads_process_ticks(void)
{
    uint64_t ticks = run.process.ended_ticks;

    for (uint32_t i = 0; i < THREADS_MAX; i++)
        if (table[i].cpu && table[i].running_since)
            ticks += threads_used_ticks(&table[i]);
    return ticks;
}
