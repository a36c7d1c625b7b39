/* Stops and continues processes, and tells their parents. */
#include <signal.h>

#include "guest/base/context.h"
#include "guest/signal/signal.h"
#include "guest/thread/schedule.h"
#include "guest/thread/threads.h"
#include "guest/thread/wait.h"

static const uint64_t stops =
    SIGNAL_BIT(SIGSTOP) | SIGNAL_BIT(SIGTSTP) | SIGNAL_BIT(SIGTTIN) | SIGNAL_BIT(SIGTTOU);

static struct signal_note child_note(const struct process *process, int32_t code, uint32_t status)
{
    bool ended = code == CLD_EXITED || code == CLD_KILLED || code == CLD_DUMPED;

    return (struct signal_note){.signal = ended ? process->exit_signal : SIGCHLD,
                                .code = code,
                                .words = {signal_sender_word(process), status}};
}

bool signal_tell_parent(struct process *process, int32_t code, uint32_t status)
{
    const struct signal_note note = child_note(process, code, status);
    struct process *parent = process->parent;
    const struct signal_action *action;
    bool ends = process->state == PROCESS_ENDED, wanted = true;

    if (parent == NULL)
        return false;
    action = &parent->actions[SIGCHLD];
    if (ends && note.signal == SIGCHLD)
        wanted = action->handler != HANDLER_IGNORE && !(action->flags & SA_NOCLDWAIT);
    if (note.signal &&
        (ends || (action->handler != HANDLER_IGNORE && !(action->flags & SA_NOCLDSTOP))))
        (void)signal_send_process_note(parent, &note);
    wait_wake_key(WAIT_KEY(&parent->children), UINT32_MAX);
    return wanted;
}

/* Makes the process's other threads look, and stop. */
static void ask_to_stop(struct thread *thread, void *self)
{
    static const struct signal_note note = {.signal = SIGSTOP};

    if (thread == self)
        return;
    (void)signal_queue_add(&thread->signals.queue, &note, true);
    wait_interrupt(thread);
}

static void all_stopped(struct process *process)
{
    process->stop.report = process->stop.signal;
    process->stop.continued = false;
    (void)signal_tell_parent(process, CLD_STOPPED, process->stop.signal);
}

void signal_stop(struct thread *thread, uint32_t signal)
{
    struct process *process = thread->process;

    if (process->ending ||
        (signal != SIGSTOP && !process->stop.signal && process_group_orphaned(process->group)))
        return;
    if (!process->stop.signal) {
        process->stop.signal = signal;
        threads_each(process, ask_to_stop, thread);
    }
    schedule_enter(thread);
    if (++process->stop.threads == process->thread_count)
        all_stopped(process);
    while (process->stop.signal &&
           wait_killable(thread, WAIT_KEY(&process->stop), "SIGCONT") != WAIT_SIGNAL)
        ;
    process->stop.threads--;
    schedule_leave(thread);
}

void signal_stop_thread_leaves(struct process *process)
{
    if (process->stop.signal && process->stop.threads == process->thread_count - 1)
        all_stopped(process);
}

void signal_stop_thread_joined(struct thread *thread)
{
    if (thread->process->stop.signal)
        ask_to_stop(thread, NULL);
}

static void forget_stops(struct thread *thread, void *set)
{
    signal_queue_forget(&thread->signals.queue, *(const uint64_t *)set, NULL, NULL);
}

static void signal_continue(struct process *process)
{
    bool stopped = process->stop.signal && process->stop.threads == process->thread_count;

    process->stop.signal = process->stop.report = 0;
    wait_wake_key(WAIT_KEY(&process->stop), UINT32_MAX);
    if (!stopped)
        return;
    process->stop.continued = true;
    (void)signal_tell_parent(process, CLD_CONTINUED, SIGCONT);
}

void signal_stop_or_continue(struct process *process, uint32_t signal)
{
    uint64_t set = 0;

    cross_assert_held();
    if (signal == SIGCONT)
        set = stops;
    else if (SIGNAL_BIT(signal) & stops)
        set = SIGNAL_BIT(SIGCONT);
    if (!set)
        return;
    signal_queue_forget(&process->signals, set, NULL, NULL);
    threads_each(process, forget_stops, &set);
    if (signal == SIGCONT && process->stop.signal)
        signal_continue(process);
}
