/* The table of system calls, and the code that makes one. */
#include "guest/sample/sampling.h"

#include <asm/unistd_64.h>
#include <errno.h>

#include "guest/base/image.h"
#include "guest/base/refused.h"
#include "guest/base/run.h"
#include "guest/base/syscall_handlers.h"
#include "guest/cpu/clock.h"
#include "guest/cpu/cross.h"
#include "guest/cpu/entry.h"
#include "guest/probe/probe.h"
#include "guest/sample/ring.h"
#include "guest/sample/sampler.h"
#include "guest/service/service.h"
#include "guest/signal/signal.h"
#include "guest/syscall/memory/mapping.h"
#include "guest/syscall/syscall_hr.h"
#include "include/hr_abi.h"
#include "lib/array.h"

#define SYSCALL(name, handler, support, note) [__NR_##name] = syscall_##handler,
SEALED int64_t (*syscall_table[])(struct thread *thread, struct trap_frame *frame) = {
#include "lib/program/syscall_table.h"
};
#undef SYSCALL
SEALED uint64_t syscall_limit;

/* The end of the run names it with its count. */
static int64_t refuse_unknown(struct thread *, struct trap_frame *frame)
{
    refused_count(frame->rax, REFUSED_CALL);
    return -ENOSYS;
}

void syscall_start(void)
{
    for (uint32_t i = 0; i < ARRAY_COUNT(syscall_table); i++)
        if (syscall_table[i] == NULL)
            syscall_table[i] = refuse_unknown;
    syscall_limit = cross_several ? 0 : ARRAY_COUNT(syscall_table);
}

/* What records hold of a call. */
static inline void fill_call(struct trace_slot *slot, const struct trap_frame *frame,
                             int64_t result, uint64_t duration)
{
    slot->ip = (uint64_t)result;
    slot->counters[0] = duration;
    slot->counters[1] = frame->vector;
}

/* Records a call that ended at `end`, in a ring that has room: field by field. */
static inline void put_call(const struct cpu *cpu, struct ring *ring,
                            const struct trap_frame *frame, int64_t result, uint64_t end)
{
    uint64_t start = frame->error;
    struct trace_slot *slot = ring_slot(ring, ring->head);

    slot->time = start;
    slot->tid = cpu->tid;
    slot->kind = HR_REC_SYSCALL;
    fill_call(slot, frame, result, end - start);
    ring_publish(ring);
}

static void record_call(struct cpu *cpu, const struct trap_frame *frame, uint64_t end)
{
    struct trace_slot *slot;

    if (!cpu_nmi_samples && ring_has_room(cpu->ring)) {
        put_call(cpu, cpu->ring, frame, (int64_t)frame->rax, end);
        return;
    }
    slot = sampler_record(cpu, HR_REC_SYSCALL, frame->error);
    fill_call(slot, frame, (int64_t)frame->rax, end - frame->error);
    sampling.trigger->close(cpu);
}

/* Delivers signals, and restarts calls that they interrupted. */
static void syscall_deliver(struct thread *thread, struct trap_frame *frame, int64_t result)
{
    if (result == -EINTR && frame->vector != __NR_rt_sigreturn) {
        thread->signals.interrupted = frame->vector + 1;
        signal_deliver(thread, frame);
        return;
    }
    thread->wait.restart_until = 0;
    thread->after_call.forget_restart = false;
    if (thread_signals_all(thread) || thread->after_call.restore_mask)
        signal_deliver(thread, frame);
}

/* What follows a call's end, off the workload clock, where that may be more than a record. */
static __attribute__((noinline)) void follow_call(struct trap_frame *frame, uint64_t end)
{
    struct cpu *cpu = cpu_this();

    record_call(cpu, frame, end);
    if (run.allocations)
        mapping_record(cpu, frame);
    if (run_state.after_call.mapped)
        probe_look();
    if (cpu->trigger.paused != sampler_paused)
        syscall_hr_follow(cpu, frame->rip);
    if (run_state.stop_signal)
        service_check_stop();
    cross_unlock();
}

/* syscall_done for a call that leaves something to do. */
static __attribute__((noinline)) void done_rarely(struct trap_frame *frame, int64_t result)
{
    struct thread *thread = cpu_this()->thread;

    syscall_deliver(thread, frame, result);
    follow_call(frame, clock_end_of_call(cpu_this())); /* it may have waited */
    if (thread->after_call.return_by_iret) {
        thread->after_call.return_by_iret = false;
        entry_return(frame);
    }
}

/* Records the call, its start and its duration.  Field by field, and with one look at what the
 * program left to do and one at all else, because this is most of the cost of a call that does
 * nothing; so every call in here is the last thing that it does.  What the run asks for must not
 * change how long a call takes, so the second look comes after its end. */
void syscall_done(struct trap_frame *frame, int64_t result)
{
    struct cpu *cpu = cpu_this(); /* the call may have waited */
    struct thread *thread = cpu->thread;
    struct ring *ring = cpu->ring;
    uint64_t end;

    frame->rax = (uint64_t)result;
    if (__builtin_expect(result == -EINTR || thread_signals_all(thread) || thread->after_call.any,
                         0)) {
        done_rarely(frame, result);
        return;
    }
    end = clock_end_of_call(cpu);
    if (__builtin_expect(run_state.after_call.any || !ring_has_room(ring), 0))
        follow_call(frame, end);
    else
        put_call(cpu, ring, frame, result, end);
}

static __attribute__((noinline)) void call_locked(struct cpu *cpu, struct trap_frame *frame)
{
    uint64_t number = frame->rax;

    frame->error = clock_entered(cpu);
    cross_lock(cpu);
    syscall_done(frame, number < ARRAY_COUNT(syscall_table)
                            ? syscall_table[number](cpu->thread, frame)
                            : refuse_unknown(cpu->thread, frame));
}

/* Two branches and two tail calls, so that a poll by the program stays cheap. */
void syscall_trap(struct trap_frame *frame)
{
    struct cpu *cpu = cpu_this();

    if (cpu->thread == NULL) /* the calibration loop ends */
        user_leave();
    if (frame->rax == HR_ABI_SYSCALL)
        syscall_hr(cpu, frame);
    else
        call_locked(cpu, frame);
}
