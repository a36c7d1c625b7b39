/* signalfd: pending signals that are read instead of handled. */
#include "guest/file/signalfd.h"

#include <errno.h>
#include <linux/fcntl.h>
#include <linux/signalfd.h>
#include <poll.h>
#include <signal.h>

#include "guest/base/context.h"
#include "guest/base/syscall_handlers.h"
#include "guest/file/files.h"
#include "guest/file/poll.h"
#include "guest/memory/heap.h"
#include "guest/signal/signal.h"
#include "guest/signal/signal_frame.h"
#include "guest/thread/wait.h"
#include "guest/vm/uaccess.h"

struct signal_file {
    uint64_t set;
    struct file *file;
    struct signal_file *next; /* in the list of all */
};

static struct signal_file *all;

void signalfd_sent(uint32_t signal)
{
    cross_assert_held();
    for (struct signal_file *s = all; s != NULL; s = s->next)
        if (s->set & SIGNAL_BIT(signal))
            poll_changed(s->file, POLLIN);
}

static bool is_fault(const struct signal_info *info)
{
    return info->code > 0 && info->code != SI_KERNEL &&
           SIGNAL_BIT(info->signal) &
               (SIGNAL_BIT(SIGSEGV) | SIGNAL_BIT(SIGBUS) | SIGNAL_BIT(SIGILL) | SIGNAL_BIT(SIGFPE) |
                SIGNAL_BIT(SIGTRAP));
}

static int64_t signalfd_put(uint64_t user, const struct signal_info *info)
{
    const uint64_t *words = info->u.words;
    struct signalfd_siginfo out = {
        .ssi_signo = (uint32_t)info->signal, .ssi_errno = info->error, .ssi_code = info->code};

    if (is_fault(info)) {
        out.ssi_addr = words[0];
    } else if (info->code == SI_TIMER) {
        out.ssi_tid = (uint32_t)words[0];
        out.ssi_overrun = (uint32_t)(words[0] >> 32);
    } else {
        out.ssi_pid = (uint32_t)words[0];
        out.ssi_uid = (uint32_t)(words[0] >> 32);
    }
    if (info->signal == SIGCHLD && info->code > 0)
        out.ssi_status = (int32_t)words[1];
    if (info->code < 0 && info->code != SI_TKILL) { /* sent with a value */
        out.ssi_ptr = words[1];
        out.ssi_int = (int32_t)words[1];
    }
    return copy_to_user(user, &out, sizeof out);
}

/* Takes a pending signal of the set, if there is one. */
static int64_t signalfd_take(struct thread *thread, const struct file *file,
                             struct signal_info *info)
{
    const struct signal_file *s = file->state;

    while (!signal_take(thread, s->set, info)) {
        enum wait_end end;

        if (file->flags & O_NONBLOCK)
            return -EAGAIN;
        thread->signals.wanted = s->set;
        end = wait_on(thread, WAIT_KEY(s), WAIT_FOREVER, "a signalfd");
        thread->signals.wanted = 0;
        if (end == WAIT_SIGNAL && !(thread_signals_all(thread) & s->set))
            return -EINTR;
    }
    return 0;
}

static int64_t read_signals(struct thread *thread, struct file *file, uint64_t /* offset */,
                            uint64_t user, uint64_t bytes)
{
    const struct signal_file *s = file->state;
    const uint64_t each = sizeof(struct signalfd_siginfo);
    struct signal_info info;
    int64_t done = 0, error;

    if (bytes < each)
        return -EINVAL;
    error = signalfd_take(thread, file, &info);
    while (!error) {
        error = signalfd_put(user + (uint64_t)done, &info);
        if (error)
            break;
        done += (int64_t)each;
        if ((uint64_t)done + each > bytes || !signal_take(thread, s->set, &info))
            break;
    }
    return done ? done : error;
}

static uint32_t poll_signals(struct thread *thread, struct file *file)
{
    const struct signal_file *s = file->state;

    return thread_signals_all(thread) & s->set ? POLLIN : 0;
}

static void release_signals(struct file *file)
{
    struct signal_file *s = file->state, **at = &all;

    if (s == NULL)
        return;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    heap_free(s, sizeof *s);
}

static const struct file_type file_signals = {.mode = 0600,
                                              .ignores_seeks = true,
                                              .name = "anon_inode:[signalfd]",
                                              .read = read_signals,
                                              .poll = poll_signals,
                                              .release = release_signals};

static int64_t signalfd_make(struct thread *thread, uint64_t set, uint32_t flags)
{
    struct file *file = files_new(thread->process, &file_signals, O_RDWR | (flags & O_NONBLOCK));
    struct signal_file *s = file != NULL ? heap_alloc(sizeof *s) : NULL;
    int64_t fd = -ENOMEM;

    if (s != NULL) {
        *s = (struct signal_file){.set = set, .file = file, .next = all};
        all = s;
        file->state = s;
        fd = files_add(thread->process, file, 0, flags & O_CLOEXEC);
    }
    if (file != NULL && fd < 0)
        files_discard(file);
    return fd;
}

static int64_t make_or_change(struct thread *thread, const struct trap_frame *frame, uint32_t flags)
{
    const struct file *file = files_get(thread->process, (int32_t)frame->rdi);
    struct signal_file *s;
    uint64_t set;

    if (frame->rdx != sizeof set || flags & ~(uint32_t)(SFD_CLOEXEC | SFD_NONBLOCK))
        return -EINVAL;
    if (copy_from_user(&set, frame->rsi, sizeof set) != 0)
        return -EFAULT;
    set = signal_mask_of(set);
    if ((int32_t)frame->rdi == -1)
        return signalfd_make(thread, set, flags);
    if (file == NULL)
        return -EBADF;
    if (file->type != &file_signals)
        return -EINVAL;
    s = file->state;
    s->set = set;
    wait_wake_key(WAIT_KEY(s), UINT32_MAX);
    poll_changed(s->file, POLLIN);
    return (int32_t)frame->rdi;
}

int64_t syscall_signalfd(struct thread *thread, struct trap_frame *frame)
{
    return make_or_change(thread, frame, 0);
}

int64_t syscall_signalfd4(struct thread *thread, struct trap_frame *frame)
{
    return make_or_change(thread, frame, (uint32_t)frame->r10);
}
