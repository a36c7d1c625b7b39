/* System calls that wait for processes to end, stop or continue. */
#include <errno.h>
#include <linux/wait.h>
#include <signal.h>

#include "guest/base/signal_layout.h"
#include "guest/base/syscall_handlers.h"
#include "guest/file/pidfd.h"
#include "guest/syscall/process/usage.h"
#include "guest/thread/wait.h"
#include "guest/vm/uaccess.h"

#define WAIT4_OPTIONS (WNOHANG | WUNTRACED | WCONTINUED | __WNOTHREAD | __WALL | __WCLONE)
#define WAITID_OPTIONS \
    (WNOHANG | WNOWAIT | WEXITED | WSTOPPED | WCONTINUED | __WNOTHREAD | __WALL | __WCLONE)
#define WAITID_BYTES 28u /* of siginfo: all that Linux writes, si_status is the last */
#define STATUS_CONTINUED 0xffffu
#define STATUS_STOPPED 0x7fu

enum whom { ANY, ONE, GROUP };

struct wanted {
    enum whom whom;
    uint32_t id;
    uint32_t options;
};

struct outcome { /* of a wait; pid 0: nothing has happened yet */
    uint32_t pid;
    uint32_t status; /* as wait4 gives it */
    int32_t code; /* CLD_* */
    uint32_t value; /* si_status */
};

static bool matches(const struct wanted *wanted, const struct process *child)
{
    bool clone = child->exit_signal != SIGCHLD;

    if (!(wanted->options & __WALL) && clone != !!(wanted->options & __WCLONE))
        return false;
    switch (wanted->whom) {
    case ONE:
        return child->pid == wanted->id;
    case GROUP:
        return child->group == wanted->id;
    default:
        return true;
    }
}

static void fill_ended(const struct process *child, struct outcome *outcome)
{
    uint32_t signal = child->status & 0x7f;

    *outcome = (struct outcome){.pid = child->pid,
                                .status = child->status,
                                .code = !signal                ? CLD_EXITED
                                        : child->status & 0x80 ? CLD_DUMPED
                                                               : CLD_KILLED,
                                .value = signal ? signal : child->status >> 8};
}

/* Looks whether the child has something to report, and takes the report unless WNOWAIT. */
static bool wait_look(struct process *child, uint32_t options, struct outcome *outcome)
{
    bool keeps = options & WNOWAIT;

    if (child->state == PROCESS_ENDED) {
        if (options & WEXITED)
            fill_ended(child, outcome);
        return options & WEXITED;
    }
    if (options & WSTOPPED && child->stop.report) {
        *outcome = (struct outcome){.pid = child->pid,
                                    .status = child->stop.report << 8 | STATUS_STOPPED,
                                    .code = CLD_STOPPED,
                                    .value = child->stop.report};
        child->stop.report = keeps ? child->stop.report : 0;
        return true;
    }
    if (options & WCONTINUED && child->stop.continued) {
        *outcome = (struct outcome){
            .pid = child->pid, .status = STATUS_CONTINUED, .code = CLD_CONTINUED, .value = SIGCONT};
        child->stop.continued = keeps;
        return true;
    }
    return false;
}

/* Looks at the children, the oldest first.  Returns the one that has something to report, NULL with
 * *error -ECHILD if there is none to wait for, else NULL with 0. */
static struct process *wait_find(const struct process *parent, const struct wanted *wanted,
                                 struct outcome *outcome, int *error)
{
    struct process *child = parent->children;

    *error = -ECHILD;
    while (child != NULL && child->next_sibling != NULL)
        child = child->next_sibling;
    for (; child != NULL; child = child->previous_sibling) {
        if (!matches(wanted, child))
            continue;
        *error = 0;
        if (wait_look(child, wanted->options, outcome))
            return child;
    }
    return NULL;
}

/* Waits for what is wanted.  Returns 0 or -errno; *used, unless it is 0, gets the child's use. */
static int64_t wait_children(struct thread *thread, const struct wanted *wanted,
                             struct outcome *outcome, uint64_t used)
{
    enum wait_end end = WAIT_WOKEN;

    *outcome = (struct outcome){0};
    for (;;) {
        int error;
        struct process *child = wait_find(thread->process, wanted, outcome, &error);

        if (child != NULL) {
            if (used)
                error = usage_write_process(used, child);
            if (child->state == PROCESS_ENDED && !(wanted->options & WNOWAIT)) {
                pidfd_process_gone(child->pid);
                process_reap(child, true);
            }
            return error;
        }
        if (error || wanted->options & WNOHANG)
            return error;
        if (end == WAIT_SIGNAL)
            return -EINTR;
        end = wait_on(thread, WAIT_KEY(&thread->process->children), WAIT_FOREVER, "a child");
    }
}

int64_t syscall_wait4(struct thread *thread, struct trap_frame *frame)
{
    int32_t pid = (int32_t)frame->rdi, status;
    struct wanted wanted = {.options = (uint32_t)frame->rdx | WEXITED};
    struct outcome outcome;
    int64_t error;

    if ((uint32_t)frame->rdx & ~(uint32_t)WAIT4_OPTIONS)
        return -EINVAL;
    if (pid == INT32_MIN)
        return -ESRCH;
    if (pid != -1) {
        wanted.whom = pid > 0 ? ONE : GROUP;
        wanted.id = pid > 0 ? (uint32_t)pid : pid ? (uint32_t)-pid : thread->process->group;
    }
    error = wait_children(thread, &wanted, &outcome, frame->r10);
    if (error || !outcome.pid)
        return error;
    status = (int32_t)outcome.status;
    if (frame->rsi && copy_to_user(frame->rsi, &status, sizeof status) != 0)
        return -EFAULT;
    return outcome.pid;
}

static int choose_whom(const struct thread *thread, uint32_t kind, uint32_t id,
                       struct wanted *wanted)
{
    int64_t pid;

    wanted->id = id;
    switch (kind) {
    case P_ALL:
        return 0;
    case P_PID:
        wanted->whom = ONE;
        return (int32_t)id > 0 ? 0 : -EINVAL;
    case P_PGID:
        wanted->whom = GROUP;
        wanted->id = id ? id : thread->process->group;
        return (int32_t)id >= 0 ? 0 : -EINVAL;
    case P_PIDFD:
        if ((int32_t)id < 0)
            return -EINVAL;
        pid = pidfd_pid(files_get(thread->process, (int32_t)id));
        wanted->whom = ONE;
        wanted->id = pid > 0 ? (uint32_t)pid : 0;
        return pid < 0 ? (int)pid : 0;
    default:
        return -EINVAL;
    }
}

int64_t syscall_waitid(struct thread *thread, struct trap_frame *frame)
{
    struct wanted wanted = {.options = (uint32_t)frame->r10};
    struct signal_info info = {0};
    struct outcome outcome;
    int64_t error;

    if (wanted.options & ~(uint32_t)WAITID_OPTIONS ||
        !(wanted.options & (WEXITED | WSTOPPED | WCONTINUED)))
        return -EINVAL;
    error = choose_whom(thread, (uint32_t)frame->rdi, (uint32_t)frame->rsi, &wanted);
    if (!error)
        error = wait_children(thread, &wanted, &outcome, frame->r8);
    if (error)
        return error;
    if (outcome.pid) {
        info.signal = SIGCHLD;
        info.code = outcome.code;
        info.u.words[0] = outcome.pid | (uint64_t)PROCESS_USER_ID << 32;
        info.u.words[1] = outcome.value;
    }
    if (frame->rdx && copy_to_user(frame->rdx, &info, WAITID_BYTES) != 0)
        return -EFAULT;
    return 0;
}
