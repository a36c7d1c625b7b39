/* Records what the program's hooks tell, call by call. */
#include "guest/calls/calls.h"

#include <errno.h>

#include "drivers/pmu/pmu.h"
#include "guest/base/log.h"
#include "guest/base/run.h"
#include "guest/calls/calls_observe.h"
#include "guest/cpu/clock.h"
#include "guest/memory/heap.h"
#include "guest/sample/ring.h"
#include "guest/sample/sampler.h"
#include "guest/sample/sampler_take.h"
#include "guest/sample/sampling.h"
#include "guest/thread/thread.h"
#include "guest/trace/called.h"
#include "guest/vm/uaccess.h"
#include "include/hr_abi.h"
#include "lib/trace/call_stack.h"

void calls_start(void)
{
    if (!run.latency)
        return;
    if (sampling.probes)
        panic("manifest: mode latency with probes");
    sampling.probes = true;
    called_start();
}

int64_t calls_ask(struct cpu *cpu, uint64_t shadow)
{
    struct hr_abi_calls calls;
    int error;

    if (!run.latency)
        return HR_ABI_CALLS_IGNORED;
    if (run.shared)
        return HR_ABI_CALLS_TOLD;
    if (shadow == 0)
        return HR_ABI_CALLS_OBSERVED;
    error = copy_from_user(&calls, shadow, sizeof calls);
    if (error == 0)
        error = calls_observe(cpu, &calls);
    return error != 0 ? error : HR_ABI_CALLS_OBSERVED;
}

/* Returns the thread's open calls, or NULL without memory. */
static struct call_stack *calls_of(struct thread *thread)
{
    struct call_stack *stack = thread->calls;

    if (stack != NULL)
        return stack;
    stack = heap_alloc(sizeof *stack);
    if (stack == NULL)
        return NULL;
    stack->entries = heap_alloc(CALL_STACK_BYTES);
    if (stack->entries == NULL) {
        heap_free(stack, sizeof *stack);
        return NULL;
    }
    thread->calls = stack;
    return stack;
}

static void calls_record(struct cpu *cpu, uint32_t point, uint64_t sp, uint32_t what)
{
    struct trace_slot *slot;

    if (!ring_has_room(cpu->ring) && !sampler_make_room(cpu, clock_entered(cpu)))
        return;
    slot = ring_slot(cpu->ring, cpu->ring->head);
    slot->time = clock_entered(cpu);
    slot->ip = sp;
    slot->tid = cpu->tid;
    slot->kind = HR_REC_PROBES;
    trace_slot_set_point(slot, point, what);
    run.pmu->read(&sampling.session, cpu->clock.user_ticks, slot->counters);
    pmu_store_fence();
    ring_publish(cpu->ring);
}

static void calls_enter(struct cpu *cpu, struct call_stack *stack, const struct trap_frame *frame)
{
    struct call_entry *entry = call_stack_enter(stack, frame->rsi, frame->rdx, frame->rsp);

    if (entry == NULL) {
        called_sums.beyond++;
        return;
    }
    entry->note = called_point(cpu->space, frame->rsi, frame->rdx, cpu->tid, clock_entered(cpu));
    if (entry->note == CALLED_NONE)
        called_sums.unnumbered++;
    else
        calls_record(cpu, (uint32_t)entry->note, frame->rsp, HR_PROBE_ENTERED);
}

static void calls_leave(struct cpu *cpu, struct call_stack *stack, const struct trap_frame *frame)
{
    struct call_entry ended;

    if (!call_stack_leave(stack, frame->rsi, frame->rdx, frame->rsp, &ended))
        return;
    if (ended.note == CALLED_NONE)
        called_sums.unnumbered++;
    else
        calls_record(cpu, (uint32_t)ended.note, ended.mark, HR_PROBE_RETURNED);
}

int64_t calls_told(struct cpu *cpu, const struct trap_frame *frame, bool leaves)
{
    struct call_stack *stack;

    if (!run.latency || !run.shared || cpu->thread == NULL)
        return -EINVAL;
    stack = calls_of(cpu->thread);
    if (stack == NULL)
        return -ENOMEM;
    called_sums.strays -= stack->strays;
    if (leaves)
        calls_leave(cpu, stack, frame);
    else
        calls_enter(cpu, stack, frame);
    called_sums.strays += stack->strays;
    return 0;
}

void calls_thread_ends(struct thread *thread)
{
    if (run.latency && !run.shared)
        calls_observe_ends(thread);
    if (thread->calls == NULL)
        return;
    heap_free(thread->calls->entries, CALL_STACK_BYTES);
    heap_free(thread->calls, sizeof *thread->calls);
    thread->calls = NULL;
}
