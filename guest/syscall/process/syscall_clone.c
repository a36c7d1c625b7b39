/* System calls that make threads and processes. */
#include <asm/unistd_64.h>
#include <errno.h>
#include <linux/resource.h>
#include <linux/sched.h>
#include <signal.h>
#include <string.h>

#include "guest/base/refused.h"
#include "guest/base/syscall_handlers.h"
#include "guest/calls/calls_observe.h"
#include "guest/cpu/cpu.h"
#include "guest/exec/exec_program.h"
#include "guest/file/files.h"
#include "guest/file/pidfd.h"
#include "guest/fs/fs_place.h"
#include "guest/ipc/ipc.h"
#include "guest/sample/sampling.h"
#include "guest/signal/signal.h"
#include "guest/thread/pages.h"
#include "guest/thread/schedule.h"
#include "guest/thread/threads.h"
#include "guest/thread/wait.h"
#include "guest/trace/trace_process.h"
#include "guest/vm/uaccess.h"

/* The flags that make a thread of the same process, and those that have no effect here. */
#define THREAD_FLAGS (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD)
#define NAMESPACE_FLAGS                                                                           \
    (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | \
     CLONE_NEWNET | CLONE_NEWTIME)

struct clone_request {
    uint64_t flags;
    uint64_t stack; /* stack pointer; 0: the caller's */
    uint64_t stack_start; /* where clone3 says that it begins; otherwise 0 */
    uint64_t parent_tid;
    uint64_t child_tid;
    uint64_t tls;
    uint64_t pidfd;
    uint32_t exit_signal; /* of a process */
};

/* Makes a thread with what the request says of its registers.  Returns NULL for -EAGAIN. */
static struct thread *clone_thread(const struct thread *parent, struct process *process,
                                   uint32_t tid, const struct trap_frame *frame,
                                   const struct clone_request *request)
{
    struct thread *thread = threads_clone(parent, process, tid, frame);

    if (thread == NULL)
        return NULL;
    if (request->stack)
        threads_frame(thread)->rsp = request->stack;
    if (request->flags & CLONE_SETTLS)
        thread->schedule.fs_base = request->tls;
    if (request->flags & CLONE_CHILD_CLEARTID)
        thread->clear_child_tid = request->child_tid;
    return thread;
}

/* The call says where the stack ends, and clone3 alone where it begins: otherwise it is where the
 * memory does that holds it. */
static void tell_stack(const struct thread *thread, const struct clone_request *request)
{
    const struct vm_area *area =
        request->stack != 0 ? vm_find(thread->process->space, request->stack - 1) : NULL;

    if (sampling.precise && area != NULL)
        trace_thread_stack(thread->tid,
                           request->stack_start > area->start ? request->stack_start : area->start,
                           request->stack);
}

static int64_t make_thread(struct thread *parent, const struct trap_frame *frame,
                           const struct clone_request *request)
{
    struct thread *thread =
        clone_thread(parent, parent->process, threads_new_tid(), frame, request);
    uint32_t tid;

    if (thread == NULL)
        return -EAGAIN;
    tid = thread->tid;
    if (request->flags & CLONE_PARENT_SETTID) /* as in Linux, a bad address is no error */
        (void)copy_to_user(request->parent_tid, &tid, sizeof tid);
    if (request->flags & CLONE_CHILD_SETTID)
        (void)copy_to_user(request->child_tid, &tid, sizeof tid);
    signal_stop_thread_joined(thread);
    if (thread->process != &process_first)
        trace_thread_start(tid, thread->process->pid);
    tell_stack(thread, request);
    schedule_ready(thread);
    return tid;
}

/* ---- processes ---- */

/* Gives a new process copies of what its parent has, or the same things.  Returns 0 or -ENOMEM. */
static int clone_parts(struct process *parent, struct process *child, uint64_t flags)
{
    int error = 0;

    child->actions = flags & CLONE_SIGHAND ? process_actions_hold(parent->actions)
                                           : process_actions_new(parent->actions);
    if (child->actions == NULL)
        return -ENOMEM;
    if (flags & CLONE_CLEAR_SIGHAND)
        signal_clear_handlers(child);
    child->place = flags & CLONE_FS ? fs_place_hold(parent->place) : fs_place_copy(parent->place);
    if (child->place == NULL)
        return -ENOMEM;
    child->program = parent->program;
    exec_program_hold(child->program);
    child->given = parent->given;
    if (flags & CLONE_VM) {
        child->space = parent->space;
        vm_space_hold(child->space);
    } else {
        pages_fork(parent);
        error = vm_space_fork(parent->space, &child->space);
    }
    if (error)
        return error;
    if (flags & CLONE_FILES)
        files_table_share(parent, child);
    else
        error = files_table_copy(parent, child);
    if (!error && flags & CLONE_SYSVSEM)
        error = ipc_process_shares(child, parent);
    return error;
}

/* Undoes clone_parts. */
static void clone_discard(struct process *child)
{
    ipc_process_ends(child);
    files_table_release(child);
    if (child->space != NULL)
        vm_space_release(child->space);
    fs_place_release(child->place);
    exec_program_release(child->program);
    process_free(child);
}

static bool clone_may(const struct process *process)
{
    uint64_t limit = process->limits[RLIMIT_NPROC].soft;

    return process_count() < process_limit() && threads_count() < limit;
}

/* Makes a process and its first thread.  Returns NULL with *error set. */
static struct thread *clone_process(struct thread *parent, const struct trap_frame *frame,
                                    const struct clone_request *request, int *error)
{
    struct process *from = parent->process;
    struct process *child = NULL;
    struct thread *thread = NULL;

    *error = clone_may(from) ? -ENOMEM : -EAGAIN;
    if (*error == -ENOMEM)
        child = process_new(from, request->flags & CLONE_PARENT ? from->parent : from,
                            threads_new_tid());
    if (child == NULL)
        return NULL;
    child->exit_signal = request->flags & CLONE_PARENT ? from->exit_signal : request->exit_signal;
    *error = clone_parts(from, child, request->flags);
    if (!*error) {
        *error = -EAGAIN;
        thread = clone_thread(parent, child, child->pid, frame, request);
    }
    if (thread == NULL) {
        clone_discard(child);
        return NULL;
    }
    process_add(child);
    if (!(request->flags & CLONE_VM) || request->flags & CLONE_VFORK)
        memcpy(thread->signals.stack, parent->signals.stack, sizeof thread->signals.stack);
    if (request->flags & CLONE_CHILD_SETTID)
        thread->set_child_tid = request->child_tid;
    return thread;
}

/* Waits until the child of vfork no longer uses the parent's memory.  It may be gone by then. */
static void vfork_wait(struct thread *parent, uint32_t pid)
{
    for (;;) {
        const struct process *child = process_find(pid);

        if (child == NULL || child->vfork_tid != parent->tid ||
            wait_killable(parent, WAIT_KEY(&child->vfork_tid), "vfork") == WAIT_SIGNAL)
            return;
    }
}

static int64_t make_process(struct thread *parent, const struct trap_frame *frame,
                            const struct clone_request *request)
{
    int64_t pidfd = -1;
    struct thread *thread;
    uint32_t pid;
    int error;

    if (request->flags & CLONE_PIDFD) {
        pidfd = pidfd_reserve(parent, request->pidfd);
        if (pidfd < 0)
            return pidfd;
    }
    thread = clone_process(parent, frame, request, &error);
    if (thread == NULL) {
        if (pidfd >= 0)
            files_close(parent->process, pidfd);
        return error;
    }
    pid = thread->tid;
    if (pidfd >= 0)
        pidfd_name(parent, pidfd, pid);
    if (request->flags & CLONE_PARENT_SETTID)
        (void)copy_to_user(request->parent_tid, &pid, sizeof pid);
    if (request->flags & CLONE_VFORK)
        thread->process->vfork_tid = parent->tid;
    trace_process_start(thread->process, parent->process->pid, parent->tid);
    calls_observe_forked(parent, thread);
    schedule_ready(thread);
    if (request->flags & CLONE_VFORK)
        vfork_wait(parent, pid);
    return pid;
}

/* Checks flags that contradict each other, as Linux does. */
static int check_flags(uint64_t flags)
{
    if ((flags & (CLONE_NEWNS | CLONE_FS)) == (CLONE_NEWNS | CLONE_FS) ||
        (flags & (CLONE_NEWUSER | CLONE_FS)) == (CLONE_NEWUSER | CLONE_FS) ||
        (flags & CLONE_THREAD && !(flags & CLONE_SIGHAND)) ||
        (flags & CLONE_SIGHAND && !(flags & CLONE_VM)) ||
        (flags & CLONE_PIDFD && flags & (CLONE_DETACHED | CLONE_THREAD)) ||
        (flags & CLONE_CLEAR_SIGHAND && flags & CLONE_SIGHAND))
        return -EINVAL;
    return flags & NAMESPACE_FLAGS ? -EPERM : 0;
}

/* Threads of a process share everything. */
static int64_t clone_as(struct thread *parent, const struct trap_frame *frame,
                        const struct clone_request *request)
{
    int error = check_flags(request->flags);

    if (error)
        return error;
    if ((request->flags & CLONE_SETTLS) && request->tls >= USER_END)
        return -EPERM;
    if (parent->process->ending || parent->signals.queue.pending & SIGNAL_BIT(SIGKILL))
        return -EINTR; /* it ends, and a new thread would not know */
    if (!(request->flags & CLONE_THREAD))
        return make_process(parent, frame, request);
    if ((request->flags & THREAD_FLAGS) != THREAD_FLAGS || request->flags & CLONE_VFORK) {
        refused_count(__NR_clone, REFUSED_CALL);
        return -ENOSYS;
    }
    return make_thread(parent, frame, request);
}

int64_t syscall_clone(struct thread *thread, struct trap_frame *frame)
{
    const struct clone_request request = {.flags = frame->rdi & UINT32_MAX & ~(uint64_t)CSIGNAL,
                                          .exit_signal = (uint32_t)frame->rdi & CSIGNAL,
                                          .stack = frame->rsi,
                                          .parent_tid = frame->rdx,
                                          .pidfd = frame->rdx,
                                          .child_tid = frame->r10,
                                          .tls = frame->r8};

    if ((request.flags & (CLONE_PIDFD | CLONE_PARENT_SETTID)) ==
        (CLONE_PIDFD | CLONE_PARENT_SETTID))
        return -EINVAL;
    return clone_as(thread, frame, &request);
}

int64_t syscall_clone3(struct thread *thread, struct trap_frame *frame)
{
    struct clone_args args = {0};
    struct clone_request request;

    if (frame->rsi < CLONE_ARGS_SIZE_VER0 || frame->rsi > PAGE_BYTES)
        return -EINVAL;
    if (copy_from_user(&args, frame->rdi, frame->rsi < sizeof args ? frame->rsi : sizeof args) != 0)
        return -EFAULT;
    if (args.stack >= USER_END || args.stack_size > USER_END - args.stack ||
        !args.stack != !args.stack_size ||
        (args.exit_signal && args.flags & (CLONE_THREAD | CLONE_PARENT)) ||
        args.exit_signal > SIGNALS || args.flags & (CLONE_DETACHED | CSIGNAL) ||
        args.flags & CLONE_INTO_CGROUP)
        return -EINVAL;
    if (args.set_tid_size)
        return -EPERM;
    request = (struct clone_request){.flags = args.flags,
                                     .exit_signal = (uint32_t)args.exit_signal,
                                     .stack = args.stack + args.stack_size,
                                     .stack_start = args.stack,
                                     .parent_tid = args.parent_tid,
                                     .pidfd = args.pidfd,
                                     .child_tid = args.child_tid,
                                     .tls = args.tls};
    return clone_as(thread, frame, &request);
}

int64_t syscall_fork(struct thread *thread, struct trap_frame *frame)
{
    return clone_as(thread, frame, &(struct clone_request){.exit_signal = SIGCHLD});
}

int64_t syscall_vfork(struct thread *thread, struct trap_frame *frame)
{
    return clone_as(
        thread, frame,
        &(struct clone_request){.flags = CLONE_VM | CLONE_VFORK, .exit_signal = SIGCHLD});
}
