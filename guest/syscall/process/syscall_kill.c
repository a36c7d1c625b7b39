/* System calls that send signals. */
#include <errno.h>
#include <linux/fcntl.h>
#include <signal.h>
#include <string.h>

#include "guest/base/syscall_handlers.h"
#include "guest/file/pidfd.h"
#include "guest/signal/signal.h"
#include "guest/signal/signal_frame.h"
#include "guest/thread/threads.h"
#include "guest/vm/uaccess.h"

static struct signal_note kill_note(const struct thread *thread, uint32_t signal, int32_t code)
{
    return (struct signal_note){
        .signal = signal, .code = code, .words = {signal_sender_word(thread->process)}};
}

/* Sends to a thread, of the process `pid` unless that is 0. */
static int64_t send_to(uint32_t pid, uint32_t tid, const struct signal_note *note)
{
    struct thread *target = threads_find(tid);

    if (note->signal > SIGNALS)
        return -EINVAL;
    if (target == NULL || (pid && target->process->pid != pid))
        return -ESRCH;
    return note->signal ? signal_send_note(target, note) : 0;
}

/* Returns the process of a pid or, as in Linux, of a thread's id. */
static struct process *kill_find(uint32_t id)
{
    const struct thread *thread = threads_find(id);

    return thread != NULL ? thread->process : process_find(id);
}

static int64_t send_to_process(uint32_t pid, const struct signal_note *note)
{
    struct process *process = kill_find(pid);

    if (process == NULL)
        return pid == PROCESS_SYSTEM_PID ? -EPERM : -ESRCH;
    return note->signal ? signal_send_process_note(process, note) : 0;
}

/* Sends to a group or, for group 0, to all other processes.  The oldest come first; none ends
 * during the walk. */
static int64_t send_to_many(const struct thread *thread, uint32_t group,
                            const struct signal_note *note)
{
    int64_t result = -ESRCH;

    for (struct process *p = process_after(NULL); p != NULL; p = process_after(p)) {
        if (group ? p->group != group : p == thread->process)
            continue;
        result = 0;
        if (note->signal)
            (void)signal_send_process_note(p, note);
    }
    return result;
}

int64_t syscall_kill(struct thread *thread, struct trap_frame *frame)
{
    int32_t target = (int32_t)frame->rdi;
    const struct signal_note note = kill_note(thread, (uint32_t)frame->rsi, SI_USER);

    if (note.signal > SIGNALS)
        return -EINVAL;
    if (target > 0)
        return send_to_process((uint32_t)target, &note);
    if (target == INT32_MIN)
        return -ESRCH;
    if (target == -1)
        return send_to_many(thread, 0, &note);
    return send_to_many(thread, target ? (uint32_t)-target : thread->process->group, &note);
}

int64_t syscall_tkill(struct thread *thread, struct trap_frame *frame)
{
    const struct signal_note note = kill_note(thread, (uint32_t)frame->rsi, SI_TKILL);

    return (int32_t)frame->rdi <= 0 ? -EINVAL : send_to(0, (uint32_t)frame->rdi, &note);
}

int64_t syscall_tgkill(struct thread *thread, struct trap_frame *frame)
{
    const struct signal_note note = kill_note(thread, (uint32_t)frame->rdx, SI_TKILL);

    if ((int32_t)frame->rdi <= 0 || (int32_t)frame->rsi <= 0)
        return -EINVAL;
    return send_to((uint32_t)frame->rdi, (uint32_t)frame->rsi, &note);
}

/* Reads the siginfo that the program gives for a signal.  Only its first words: no signal that the
 * program sends uses the later ones. */
static int read_note(uint64_t user, uint32_t signal, struct signal_note *note)
{
    struct signal_info info;

    if (copy_from_user(&info, user, sizeof info) != 0)
        return -EFAULT;
    *note = (struct signal_note){.signal = signal, .error = info.error, .code = info.code};
    memcpy(note->words, info.u.words, sizeof note->words);
    return 0;
}

/* A process may not send another one what looks like a signal of the kernel or of tgkill. */
static bool kill_forged(const struct thread *thread, uint32_t pid, const struct signal_note *note)
{
    return (note->code >= 0 || note->code == SI_TKILL) && pid != thread->process->pid;
}

int64_t syscall_rt_sigqueueinfo(struct thread *thread, struct trap_frame *frame)
{
    struct signal_note note;
    int error = read_note(frame->rdx, (uint32_t)frame->rsi, &note);
    const struct process *process;

    if (error)
        return error;
    process = kill_find((uint32_t)frame->rdi);
    if (kill_forged(thread, process != NULL ? process->pid : (uint32_t)frame->rdi, &note))
        return -EPERM;
    if (process != NULL && note.signal > SIGNALS)
        return -EINVAL;
    return send_to_process((uint32_t)frame->rdi, &note);
}

int64_t syscall_rt_tgsigqueueinfo(struct thread *thread, struct trap_frame *frame)
{
    struct signal_note note;
    int error = read_note(frame->r10, (uint32_t)frame->rdx, &note);

    if (error)
        return error;
    if ((int32_t)frame->rdi <= 0 || (int32_t)frame->rsi <= 0)
        return -EINVAL;
    if (kill_forged(thread, (uint32_t)frame->rdi, &note))
        return -EPERM;
    return send_to((uint32_t)frame->rdi, (uint32_t)frame->rsi, &note);
}

int64_t syscall_pidfd_send_signal(struct thread *thread, struct trap_frame *frame)
{
    int64_t pid = pidfd_pid(files_get(thread->process, (int32_t)frame->rdi));
    struct signal_note note = kill_note(thread, (uint32_t)frame->rsi, SI_USER);
    int error = 0;

    if (frame->r10)
        return -EINVAL;
    if (pid < 0)
        return pid;
    if (frame->rdx)
        error = read_note(frame->rdx, note.signal, &note);
    if (error)
        return error;
    if (frame->rdx && kill_forged(thread, (uint32_t)pid, &note))
        return -EPERM;
    if (note.signal > SIGNALS)
        return -EINVAL;
    return pid ? send_to_process((uint32_t)pid, &note) : -ESRCH;
}

int64_t syscall_pidfd_open(struct thread *thread, struct trap_frame *frame)
{
    const struct process *process = process_find((uint32_t)frame->rdi);
    int64_t fd;

    if ((uint32_t)frame->rsi & ~(uint32_t)O_NONBLOCK || (int32_t)frame->rdi <= 0)
        return -EINVAL;
    if (process == NULL)
        return threads_find((uint32_t)frame->rdi) != NULL ? -EINVAL : -ESRCH;
    fd = pidfd_reserve(thread, 0);
    if (fd >= 0)
        pidfd_name(thread, fd, process->pid);
    return fd;
}

int64_t syscall_pidfd_getfd(struct thread *thread, struct trap_frame *frame)
{
    int64_t pid = pidfd_pid(files_get(thread->process, (int32_t)frame->rdi));
    const struct process *process = pid > 0 ? process_find((uint32_t)pid) : NULL;
    struct file *file;

    if ((uint32_t)frame->rdx)
        return -EINVAL;
    if (pid < 0)
        return pid;
    if (process == NULL || process->files == NULL)
        return -ESRCH;
    file = files_get(process, (int32_t)frame->rsi);
    return file != NULL ? files_add(thread->process, file, 0, true) : -EBADF;
}
