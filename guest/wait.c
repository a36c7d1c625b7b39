/* Waiting: the thread's CPU halts and the kernel is free for the others. */
#include "guest/wait.h"

#include "drivers/apic/apic.h"
#include "guest/cross.h"
#include "guest/input.h"
#include "guest/run.h"
#include "guest/sampler.h"
#include "guest/service.h"
#include "guest/signal.h"
#include "guest/syscall_handlers.h"
#include "guest/threads.h"
#include "lib/x86.h"

#define TICKS_MAX (1ull << 62) /* more is for ever */

static bool over(const struct thread *thread, uint64_t until, enum wait_end *end)
{
    if (__atomic_load_n(&thread->woken, __ATOMIC_ACQUIRE))
        *end = WAIT_WOKEN;
    else if (signal_waits_for(thread) || run.process.stop_signal)
        *end = WAIT_SIGNAL;
    else if (!thread->forever && (int64_t)(x86_rdtsc() - until) >= 0)
        *end = WAIT_TIMEOUT;
    else
        return false;
    return true;
}

static void record(struct cpu *cpu, uint64_t first, uint64_t last, enum hr_gap_reason reason)
{
    threads_record_switch(cpu, last, 0, cpu->tid, HR_SWITCH_WAKE);
    struct trace_slot *slot = sampler_record(cpu, HR_REC_GAP, first);
    slot->counters[0] = last;
    slot->counters[1] = reason;
    sampler_record_end(cpu);
}

/* thread->forever is set.  What ended the wait is decided under the lock: a wake-up counts. */
static enum wait_end halt_until(struct thread *thread, uint64_t until, enum hr_gap_reason reason)
{
    struct cpu *cpu = thread->cpu;
    uint64_t first = x86_rdtsc();
    enum wait_end end;

    thread->used_ticks = threads_used_ticks(thread);
    thread->waiting = true;
    __atomic_store_n(&cpu->running, false, __ATOMIC_RELEASE);
    if (run.mode == HR_MODE_TIMER)
        apic_timer_stop();
    threads_record_switch(cpu, first, thread->tid, 0, HR_SWITCH_BLOCK);
    cross_unlock();
    while (!over(thread, until, &end)) {
        if (!thread->forever)
            apic_timer_arm((int64_t)(until - x86_rdtsc()));
        x86_wait_for_interrupt();
    }
    cross_lock(cpu);
    over(thread, until, &end);
    uint64_t last = x86_rdtsc();
    thread->waiting = thread->woken = false;
    thread->running_since = last;
    if (!thread->forever)
        apic_timer_stop(); /* what woke it may have come before the timeout */
    record(cpu, first, last, reason);
    __atomic_store_n(&cpu->running, true, __ATOMIC_RELEASE);
    sampler_resume(cpu, x86_rdtsc());
    return end;
}

enum wait_end wait_for(struct thread *thread, uint64_t ns, const char *what)
{
    if (run.shared) {
        if (signal_waits_for(thread))
            return WAIT_SIGNAL;
        if (ns && input_awaited() && input_idle(ns))
            return run.process.stop_signal ? WAIT_SIGNAL : WAIT_WOKEN;
        if (ns == WAIT_FOREVER)
            syscall_deadlock(thread, what);
        if (ns)
            service_sleep(ns);
        return WAIT_TIMEOUT;
    }
    uint64_t ticks = run_ns_to_ticks(ns < TICKS_MAX ? ns : TICKS_MAX);
    thread->forever = ns == WAIT_FOREVER || ticks >= TICKS_MAX;
    if (thread->forever && !signal_waits_for(thread)) {
        thread->waiting = true;
        if (!input_awaited() && threads_stuck(NULL))
            syscall_deadlock(thread, what);
        thread->waiting = false;
    }
    return halt_until(thread, x86_rdtsc() + ticks, HR_GAP_WAIT);
}

enum wait_end wait_on(struct thread *thread, uint64_t key, uint64_t ns, const char *what)
{
    static uint64_t order;

    thread->wait_key = key;
    thread->wait_order = order++;
    enum wait_end end = wait_for(thread, ns, what);
    thread->wait_key = 0;
    return end;
}

struct match {
    uint64_t key;
    struct thread *first;
};

static void match_first(struct thread *thread, void *context)
{
    struct match *m = context;

    if (thread->waiting && !thread->woken && thread->wait_key == m->key &&
        (!m->first || thread->wait_order < m->first->wait_order))
        m->first = thread;
}

uint32_t wait_wake_key(uint64_t key, uint32_t most)
{
    uint32_t woken = 0;

    for (; woken < most; woken++) {
        struct match m = {.key = key};

        threads_each(match_first, &m);
        if (!m.first)
            break;
        wait_wake(m.first);
    }
    return woken;
}

bool wait_asleep(struct thread *thread, uint64_t until)
{
    thread->forever = false;
    return halt_until(thread, until, HR_GAP_SLEEP) == WAIT_SIGNAL;
}

void wait_wake(struct thread *thread)
{
    __atomic_store_n(&thread->woken, true, __ATOMIC_RELEASE);
    cross_call(thread->cpu);
}
