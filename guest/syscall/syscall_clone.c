/* System calls that make and end threads. */
#include <asm/unistd_64.h>
#include <errno.h>
#include <linux/sched.h>
#include <string.h>

#include "guest/base/refused.h"
#include "guest/base/syscall_handlers.h"
#include "guest/cpu/cpu.h"
#include "guest/service/service.h"
#include "guest/thread/schedule.h"
#include "guest/thread/threads.h"
#include "guest/thread/threads_end.h"
#include "guest/vm/uaccess.h"

/* The flags that make a thread of the same process, and those that have no effect here. */
#define THREAD_FLAGS (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD)
#define IGNORED_FLAGS (CLONE_SYSVSEM | CLONE_DETACHED | CLONE_UNTRACED | CLONE_IO)
#define HANDLED_FLAGS \
    (CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID)

struct clone_request {
    uint64_t flags;
    uint64_t stack; /* stack pointer; 0: the caller's */
    uint64_t parent_tid;
    uint64_t child_tid;
    uint64_t tls;
};

static int64_t make_thread(struct thread *parent, const struct trap_frame *frame,
                           const struct clone_request *request)
{
    struct thread *thread;
    uint32_t tid;

    if ((request->flags & CLONE_SETTLS) && request->tls >= USER_END)
        return -EPERM;
    thread = threads_clone(parent, frame);
    if (thread == NULL)
        return -EAGAIN;
    tid = thread->tid;
    if (request->stack)
        threads_frame(thread)->rsp = request->stack;
    if (request->flags & CLONE_SETTLS)
        thread->schedule.fs_base = request->tls;
    if (request->flags & CLONE_CHILD_CLEARTID)
        thread->clear_child_tid = request->child_tid;
    if (request->flags & CLONE_PARENT_SETTID) /* as in Linux, a bad address is no error */
        (void)copy_to_user(request->parent_tid, &tid, sizeof tid);
    if (request->flags & CLONE_CHILD_SETTID)
        (void)copy_to_user(request->child_tid, &tid, sizeof tid);
    schedule_ready(thread);
    return tid;
}

/* There is one process: a request that is not for a thread of it is refused. */
static int64_t clone_as(struct thread *parent, const struct trap_frame *frame,
                        const struct clone_request *request)
{
    if ((request->flags & THREAD_FLAGS) != THREAD_FLAGS ||
        request->flags & ~(uint64_t)(THREAD_FLAGS | IGNORED_FLAGS | HANDLED_FLAGS)) {
        refused_count(request->flags & CLONE_VM ? __NR_vfork : __NR_fork, REFUSED_PROCESS);
        return -ENOSYS;
    }
    return make_thread(parent, frame, request);
}

int64_t syscall_clone(struct thread *thread, struct trap_frame *frame)
{
    const struct clone_request request = {.flags = frame->rdi & ~(uint64_t)CSIGNAL,
                                          .stack = frame->rsi,
                                          .parent_tid = frame->rdx,
                                          .child_tid = frame->r10,
                                          .tls = frame->r8};

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
        !args.stack != !args.stack_size || (args.exit_signal && args.flags & CLONE_THREAD))
        return -EINVAL;
    request = (struct clone_request){.flags = args.flags,
                                     .stack = args.stack + args.stack_size,
                                     .parent_tid = args.parent_tid,
                                     .child_tid = args.child_tid,
                                     .tls = args.tls};
    return clone_as(thread, frame, &request);
}

int64_t syscall_exit_group(struct thread *, struct trap_frame *frame)
{
    service_exit(HR_EXIT_STATUS, (uint32_t)frame->rdi & 255);
}

/* The program's exit status is that of its first thread, whenever that ended. */
int64_t syscall_exit(struct thread *thread, struct trap_frame *frame)
{
    struct process *process = thread->process;
    bool first = thread->tid == process->pid;

    if (first)
        process->first_status = (uint32_t)frame->rdi & 255;
    if (threads_count() == 1)
        service_exit(HR_EXIT_STATUS, process->first_status);
    threads_end(thread);
}
