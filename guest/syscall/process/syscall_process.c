/* System calls about the process: identity, name, registers. */
#include <asm/prctl.h>
#include <errno.h>
#include <linux/capability.h>
#include <linux/prctl.h>
#include <signal.h>
#include <string.h>
#include <sys/utsname.h>

#include "guest/base/log.h"
#include "guest/base/run.h"
#include "guest/base/syscall_handlers.h"
#include "guest/file/file_device.h"
#include "guest/file/files.h"
#include "guest/thread/threads.h"
#include "guest/vm/uaccess.h"
#include "lib/x86.h"

#define NAME_BYTES 16u

int64_t syscall_getpid(struct thread *thread, struct trap_frame *)
{
    return thread->process->pid;
}

int64_t syscall_gettid(struct thread *thread, struct trap_frame *)
{
    return thread->tid;
}

int64_t syscall_getuid(struct thread *, struct trap_frame *)
{
    return PROCESS_USER_ID;
}

int64_t syscall_getresuid(struct thread *, struct trap_frame *frame)
{
    const uint32_t id = PROCESS_USER_ID;
    int error = copy_to_user(frame->rdi, &id, sizeof id);

    if (!error)
        error = copy_to_user(frame->rsi, &id, sizeof id);
    if (!error)
        error = copy_to_user(frame->rdx, &id, sizeof id);
    return error;
}

int64_t syscall_set_identity(struct thread *, struct trap_frame *frame)
{
    return (uint32_t)frame->rdi == PROCESS_USER_ID ? 0 : -EPERM;
}

int64_t syscall_getgroups(struct thread *, struct trap_frame *frame)
{
    return (int32_t)frame->rdi < 0 ? -EINVAL : 0;
}

int64_t syscall_uname(struct thread *, struct trap_frame *frame)
{
    struct utsname names;

    memset(&names, 0, sizeof names);
    format_text(names.sysname, sizeof names.sysname, "Linux");
    format_text(names.nodename, sizeof names.nodename, "%s", run.hostname);
    format_text(names.release, sizeof names.release, SYSCALL_RELEASE);
    format_text(names.version, sizeof names.version, SYSCALL_VERSION);
    format_text(names.machine, sizeof names.machine, "x86_64");
    return copy_to_user(frame->rdi, &names, sizeof names);
}

int64_t syscall_arch_prctl(struct thread *, struct trap_frame *frame)
{
    uint64_t value;

    switch (frame->rdi) {
    case ARCH_SET_FS:
    case ARCH_SET_GS:
        if (frame->rsi >= USER_END)
            return -EPERM;
        x86_wrmsr(frame->rdi == ARCH_SET_FS ? X86_MSR_FS_BASE : X86_MSR_KERNEL_GS_BASE, frame->rsi);
        return 0;
    case ARCH_GET_FS:
    case ARCH_GET_GS:
        value = x86_rdmsr(frame->rdi == ARCH_GET_FS ? X86_MSR_FS_BASE : X86_MSR_KERNEL_GS_BASE);
        return copy_to_user(frame->rsi, &value, sizeof value);
    default:
        return -EINVAL;
    }
}

int64_t syscall_prctl(struct thread *thread, struct trap_frame *frame)
{
    char name[NAME_BYTES] = {0};
    int result;

    switch ((int32_t)frame->rdi) {
    case PR_SET_NAME:
        result = copy_string_from_user(name, frame->rsi, sizeof name);
        if (result == -EFAULT)
            return result;
        name[NAME_BYTES - 1] = '\0';
        memcpy(thread->name, name, sizeof name);
        return 0;
    case PR_GET_NAME:
        threads_name(thread, name);
        return copy_to_user(frame->rsi, name, sizeof name);
    case PR_GET_DUMPABLE:
        return 1;
    case PR_GET_TSC:
        return copy_to_user(frame->rsi, &(int32_t){PR_TSC_ENABLE}, sizeof(int32_t));
    case PR_GET_TIMERSLACK:
        return 50000;
    case PR_SET_PDEATHSIG:
        if (frame->rsi > SIGNALS)
            return -EINVAL;
        thread->process->death_signal = (uint32_t)frame->rsi;
        return 0;
    case PR_GET_PDEATHSIG:
        return copy_to_user(frame->rsi, &thread->process->death_signal, sizeof(uint32_t));
    case PR_SET_CHILD_SUBREAPER:
        thread->process->subreaper = frame->rsi != 0;
        return 0;
    case PR_GET_CHILD_SUBREAPER:
        result = thread->process->subreaper;
        return copy_to_user(frame->rsi, &result, sizeof result);
    case PR_SET_DUMPABLE:
    case PR_SET_TIMERSLACK:
    case PR_SET_NO_NEW_PRIVS:
    case PR_SET_PTRACER:
    case PR_SET_THP_DISABLE:
    case PR_GET_KEEPCAPS:
    case PR_GET_NO_NEW_PRIVS:
    case PR_GET_SECCOMP:
    case PR_GET_THP_DISABLE:
        return 0;
    case PR_CAPBSET_READ:
        return frame->rsi > CAP_LAST_CAP ? -EINVAL : 0;
    default:
        return -EINVAL;
    }
}

int64_t syscall_getrandom(struct thread *thread, struct trap_frame *frame)
{
    uint64_t bytes = frame->rsi < SYSCALL_IO_MAX ? frame->rsi : SYSCALL_IO_MAX;

    if (frame->rdx & ~7ull)
        return -EINVAL;
    return file_device_fill_random(thread, frame->rdi, bytes);
}
