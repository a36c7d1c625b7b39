/* Ends a process's threads. */
#include "guest/thread/threads_end.h"

#include <signal.h>

#include "guest/base/context.h"
#include "guest/thread/schedule.h"
#include "guest/thread/threads.h"
#include "guest/thread/wait.h"

void (*threads_release)(struct thread *thread);

struct others {
    const struct thread *self;
    uint32_t count;
};

/* SIGKILL cannot be blocked, so it ends every wait and interrupts every CPU. */
static void threads_kill(struct thread *thread, void *context)
{
    struct others *others = context;

    if (thread == others->self)
        return;
    others->count++;
    thread->process->others = others->count;
    if (thread->signals.queue.pending & SIGNAL_BIT(SIGKILL))
        return;
    __atomic_or_fetch(&thread->signals.queue.pending, SIGNAL_BIT(SIGKILL), __ATOMIC_RELAXED);
    wait_interrupt(thread);
}

bool threads_end_others(struct thread *self)
{
    struct process *process = self->process;
    uint64_t mask = self->signals.mask, wanted = self->signals.wanted;
    bool alone = false;

    context_assert_thread();
    if (process->ender != NULL)
        return false;
    process->ender = self;
    self->signals.mask = ~SIGNAL_BIT(SIGKILL); /* other signals do not end this wait */
    self->signals.wanted = 0;
    for (;;) {
        struct others others = {.self = self};

        threads_each(process, threads_kill, &others);
        alone = others.count == 0;
        if (alone || wait_on(self, WAIT_KEY(&process->ender), WAIT_FOREVER,
                             "the end of other threads") == WAIT_SIGNAL)
            break;
    }
    self->signals.mask = mask;
    self->signals.wanted = wanted;
    process->ender = NULL;
    return alone;
}

void threads_end(struct thread *thread)
{
    struct process *process = thread->process;

    schedule_enter(thread);
    threads_release(thread);
    if (process->ender != NULL && --process->others == 0)
        (void)wait_wake_key(WAIT_KEY(&process->ender), 1);
    schedule_exit(thread);
}
