/* Ends threads and processes. */
#include "guest/syscall/process/ending.h"

#include <signal.h>

#include "guest/base/syscall_handlers.h"
#include "guest/calls/calls.h"
#include "guest/exec/exec_program.h"
#include "guest/file/files.h"
#include "guest/file/pidfd.h"
#include "guest/file/pty.h"
#include "guest/fs/fs_place.h"
#include "guest/ipc/ipc.h"
#include "guest/service/service.h"
#include "guest/signal/program_timer.h"
#include "guest/signal/signal.h"
#include "guest/syscall/futex/futex.h"
#include "guest/thread/pages.h"
#include "guest/thread/threads.h"
#include "guest/thread/threads_end.h"
#include "guest/thread/wait.h"
#include "guest/trace/called.h"
#include "guest/trace/regions.h"
#include "guest/trace/trace_process.h"

#define STATUS_SIGNAL 0x7fu /* in a wait status */
#define STATUS_CORE 0x80u

void ending_vfork(struct process *process)
{
    if (!process->vfork_tid)
        return;
    process->vfork_tid = 0;
    wait_wake_key(WAIT_KEY(&process->vfork_tid), UINT32_MAX);
}

/* Tells the parent of an ended process; without one that waits, the process goes at once. */
static void ending_tell(struct process *process)
{
    uint32_t status = process->status, signal = status & STATUS_SIGNAL;
    int32_t code = !signal ? CLD_EXITED : status & STATUS_CORE ? CLD_DUMPED : CLD_KILLED;

    if (!signal_tell_parent(process, code, signal ? signal : status >> 8)) {
        pidfd_process_gone(process->pid);
        process_reap(process, false);
    }
}

static void send_own(struct process *process, uint32_t signal)
{
    const struct signal_note note = {.signal = signal, .code = SI_KERNEL};

    (void)signal_send_process_note(process, &note);
}

/* A child's parent has ended, and it has another one. */
static void ending_adopted(struct process *child)
{
    if (child->death_signal && child->state == PROCESS_RUNS)
        send_own(child, child->death_signal);
    child->exit_signal = SIGCHLD;
    if (child->state == PROCESS_ENDED)
        ending_tell(child);
}

/* When no shell is left that could continue a group, its stopped processes are told, as in Linux.
 */
static void tell_orphans(uint32_t group)
{
    bool stopped = false;

    if (!process_group_orphaned(group))
        return;
    for (struct process *p = process_after(NULL); p != NULL; p = process_after(p))
        stopped |= p->group == group && p->state == PROCESS_RUNS && p->stop.signal;
    for (struct process *p = process_after(NULL); stopped && p != NULL; p = process_after(p)) {
        if (p->group != group || p->state != PROCESS_RUNS)
            continue;
        send_own(p, SIGHUP);
        send_own(p, SIGCONT);
    }
}

/* Gives up everything that a zombie does not have.  Closing files may wait for the host. */
static void ending_give_up(struct process *process)
{
    struct vm_space *space;

    process->ending = true;
    program_timer_delete_all(process);
    ipc_process_ends(process);
    files_table_release(process);
    fs_place_release(process->place);
    process->place = NULL;
    signal_queue_forget(&process->signals, UINT64_MAX, NULL, NULL);
    exec_program_release(process->program);
    process->program = NULL;
    space = process->space;
    pages_leave(process);
    if (space->references == 1) {
        regions_space_ends(space);
        called_space_ends(space);
    }
    process->space = NULL;
    vm_space_use(NULL);
    vm_space_release(space);
    ending_vfork(process);
}

static void ending_process(struct process *process)
{
    trace_process_exit(process, process->status);
    ending_give_up(process);
    process_give_children(process, ending_adopted);
    process->state = PROCESS_ENDED;
    pidfd_process_ended(process->pid);
    if (process->session == process->pid)
        pty_session_ends(process->session, false);
    tell_orphans(process->group);
    ending_tell(process);
}

void ending_release(struct thread *thread)
{
    struct process *process = thread->process;

    if (process->thread_count == 1 && process == &process_first)
        service_exit(HR_EXIT_STATUS, process->status >> 8);
    calls_thread_ends(thread);
    futex_thread_ends(thread);
    signal_thread_ends(thread);
    if (process->thread_count == 1) {
        threads_name(thread, process->name);
        ending_process(process);
    } else {
        signal_stop_thread_leaves(process);
    }
}

int64_t syscall_exit_group(struct thread *thread, struct trap_frame *frame)
{
    uint32_t status = (uint32_t)frame->rdi & 255;

    if (thread->process == &process_first)
        service_exit(HR_EXIT_STATUS, status);
    signal_end_process(thread->process, status << 8);
    threads_end(thread);
}

/* A process's exit status is that of its first thread, whenever that ended. */
int64_t syscall_exit(struct thread *thread, struct trap_frame *frame)
{
    if (thread->tid == thread->process->pid && !thread->process->ending)
        thread->process->status = ((uint32_t)frame->rdi & 255) << 8;
    threads_end(thread);
}
