/* Records of waits: which call, for which futex, with which stack, until when. */
#include "guest/thread/wait_record.h"

#include <asm/unistd_64.h>
#include <linux/futex.h>

#include "guest/cpu/clock.h"
#include "guest/sample/sampler.h"
#include "guest/sample/sampling.h"
#include "guest/thread/threads.h"

/* Returns the thread for whose end the futex waits: the kernel clears the word then, which holds
 * its number until that.  Where all threads have the same word, as with musl, it is a lock. */
static uint32_t joins(const struct thread *thread, const struct trap_frame *frame)
{
    const struct thread *other = threads_find((uint32_t)frame->rdx);

    return other != NULL && other->process == thread->process &&
                   other->clear_child_tid == frame->rdi && thread->clear_child_tid != frame->rdi
               ? other->tid
               : 0;
}

void wait_record(struct cpu *cpu, const struct thread *thread)
{
    const struct trap_frame *frame = threads_frame(thread);
    struct trace_slot *slot = sampler_record(cpu, HR_REC_WAIT, clock_stopped_time(cpu));

    slot->counters[0] = thread->schedule.between ? HR_WAIT_NO_CALL : frame->vector;
    if (slot->counters[0] == __NR_futex) {
        slot->ip = frame->rdi;
        slot->counters[1] = frame->rsi & FUTEX_CMD_MASK;
        slot->counters[2] = joins(thread, frame);
    }
    sampling.trigger->close(cpu);
    if (run.stacks.kind)
        sampler_record_stack(cpu, clock_stopped_time(cpu), frame, HR_SAMPLE_WAITING);
}

void wait_record_end(struct cpu *cpu, const struct thread *thread)
{
    struct trace_slot *slot = sampler_record(cpu, HR_REC_WAKE, clock_stopped_time(cpu));

    slot->tid = thread->tid;
    slot->ip = thread->schedule.woken_at < slot->time ? thread->schedule.woken_at : slot->time;
    sampling.trigger->close(cpu);
}
