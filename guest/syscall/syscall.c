/* The table of system calls, and the code that makes one. */
#include "guest/sample/sampling.h"

#include <asm/unistd_64.h>
#include <errno.h>

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
static int64_t (*const handlers[])(struct thread *thread, struct trap_frame *frame) = {
#include "lib/syscall_table.h"
};
#undef SYSCALL

/* The end of the run names it with its count. */
static __attribute__((noinline)) int64_t refuse_unknown(uint64_t number)
{
    refused_count(number, REFUSED_CALL);
    return -ENOSYS;
}

/* Records the call, its start and its duration: field by field if that is certain to fit, because
 * recording is most of the cost of a call that does nothing. */
static inline void record_call(struct cpu *cpu, const struct trap_frame *frame, uint64_t start,
                               uint64_t end)
{
    struct ring *ring = cpu->ring;
    bool fits = !cpu_nmi_samples && ring_has_room(ring);
    struct trace_slot *slot;

    if (__builtin_expect(fits, 1)) {
        slot = ring_slot(ring, ring->head);
        slot->time = start;
        slot->tid = cpu->tid;
        slot->kind = HR_REC_SYSCALL;
    } else {
        slot = sampler_record(cpu, HR_REC_SYSCALL, start);
    }
    slot->ip = frame->rax;
    slot->counters[0] = end - start;
    slot->counters[1] = frame->vector;
    if (__builtin_expect(fits, 1))
        ring_publish(ring);
    else
        sampling.trigger->close(cpu);
}

static inline int64_t syscall_perform(struct thread *thread, struct trap_frame *frame)
{
    uint64_t number = frame->rax;

    if (__builtin_expect(number >= ARRAY_COUNT(handlers) || handlers[number] == NULL, 0))
        return refuse_unknown(number);
    return handlers[number](thread, frame);
}

/* Delivers signals, and restarts calls that they interrupted. */
static inline void syscall_deliver(struct thread *thread, struct trap_frame *frame, int64_t result)
{
    if (__builtin_expect(result == -EINTR && frame->vector != __NR_rt_sigreturn, 0)) {
        thread->signals.interrupted = frame->vector + 1;
        signal_deliver(thread, frame);
        return;
    }
    thread->wait.restart_until = 0;
    if (__builtin_expect(thread_signals_all(thread) || thread->signals.restore_mask, 0))
        signal_deliver(thread, frame);
}

static __attribute__((noinline)) bool linux_call(struct cpu *cpu, struct trap_frame *frame)
{
    struct thread *thread = cpu->thread;
    uint64_t start = clock_entered(cpu);
    int64_t result;

    __asm__("" : "+r"(start)); /* keep it in one register, not in one for each of its terms */
    cross_lock(cpu);
    thread->return_by_iret = false;
    result = syscall_perform(thread, frame);
    frame->rax = (uint64_t)result;
    syscall_deliver(thread, frame, result);
    cpu = cpu_this(); /* the call may have waited */
    record_call(cpu, frame, start, clock_end_of_call(cpu));
    if (__builtin_expect(run.allocations, 0))
        mapping_record(cpu, frame);
    if (__builtin_expect(probe_mapped, 0))
        probe_look();
    if (__builtin_expect(cpu->trigger.paused != sampler_paused, 0))
        syscall_hr_follow(cpu, frame->rip);
    if (__builtin_expect(run_state.stop_signal, 0))
        service_check_stop();
    cross_unlock();
    return thread->return_by_iret;
}

/* Two branches and two tail calls, so that a poll by the program stays cheap. */
bool syscall_trap(struct trap_frame *frame)
{
    struct cpu *cpu = cpu_this();

    if (cpu->thread == NULL) /* the calibration loop ends */
        user_leave();
    if (frame->rax == HR_ABI_SYSCALL)
        return syscall_hr(cpu, frame);
    return linux_call(cpu, frame);
}
