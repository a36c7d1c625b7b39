/* What the kernel of the tests checks of a function's context; see
 * guest/variants/shipped/guest/base/context.h.  Before the program starts and when it has ended
 * one CPU works at a time, without the lock, and nothing is checked. */
#include <stdbool.h>
#include <stdint.h>

#include "guest/base/context.h"
#include "guest/base/log.h"
#include "guest/base/run.h"
#include "guest/cpu/cpu.h"
#include "guest/cpu/cross.h"
#include "guest/thread/thread.h"

#define RFLAGS_IF (1u << 9)

static const struct cpu *holder; /* of the kernel lock; NULL: no CPU; atomic */

void context_note_holder(const struct cpu *cpu)
{
    __atomic_store_n(&holder, cpu, __ATOMIC_RELAXED);
}

static bool interrupts_enabled(void)
{
    uint64_t flags;

    __asm__ volatile("pushfq; pop %0" : "=r"(flags));
    return flags & RFLAGS_IF;
}

static bool program_runs(void)
{
    return run_state.started && !__atomic_load_n(&run_state.ending, __ATOMIC_ACQUIRE);
}

void context_check_held(const char *function)
{
    if (!program_runs())
        return;
    if (interrupts_enabled())
        panic("%s was called with interrupts enabled", function);
    if (cross_several && __atomic_load_n(&holder, __ATOMIC_RELAXED) != cpu_this())
        panic("%s was called without the kernel lock", function);
}

void context_check_thread(const char *function)
{
    uint64_t sp = (uint64_t)__builtin_frame_address(0);
    const struct thread *thread;

    if (!program_runs())
        return;
    context_check_held(function);
    thread = cpu_this()->thread;
    if (thread == NULL || sp >= thread->stack_top || thread->stack_top - sp > KERNEL_STACK_BYTES)
        panic("%s was not called by a thread", function);
}

void context_check_service(const char *function)
{
    if (program_runs() && cross_several && cpu_this()->index != 0)
        panic("%s was called by CPU %u, which does no service", function, cpu_this()->index);
}
