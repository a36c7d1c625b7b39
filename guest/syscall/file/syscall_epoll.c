/* System calls for epoll. */
#include <errno.h>
#include <linux/fcntl.h>
#include <sys/epoll.h>

#include "guest/base/syscall_handlers.h"
#include "guest/file/epoll.h"
#include "guest/file/input.h"
#include "guest/thread/wait.h"
#include "guest/vm/uaccess.h"

#define EVENT_BYTES 12u
#define EVENTS_MAX ((int32_t)(INT32_MAX / EVENT_BYTES))
#define NS_PER_MS 1000000ull

static int64_t make_epoll(struct thread *thread, uint32_t flags)
{
    struct file *file = files_new(thread->process, &epoll_file, O_RDWR);

    if (file == NULL)
        return -ENFILE;
    if (!epoll_attach(file)) {
        files_discard(file);
        return -ENOMEM;
    }
    return files_add_new(thread->process, file, flags & EPOLL_CLOEXEC);
}

int64_t syscall_epoll_create(struct thread *thread, struct trap_frame *frame)
{
    return (int32_t)frame->rdi > 0 ? make_epoll(thread, 0) : -EINVAL;
}

int64_t syscall_epoll_create1(struct thread *thread, struct trap_frame *frame)
{
    uint32_t flags = (uint32_t)frame->rdi;

    return flags & ~(uint32_t)EPOLL_CLOEXEC ? -EINVAL : make_epoll(thread, flags);
}

static int epoll_control(struct thread *thread, struct epoll *epoll, uint32_t operation,
                         struct file *file, int32_t fd, uint64_t user)
{
    struct __attribute__((packed)) {
        uint32_t events;
        uint64_t data;
    } event;

    if (operation != EPOLL_CTL_DEL && copy_from_user(&event, user, sizeof event) != 0)
        return -EFAULT;
    switch (operation) {
    case EPOLL_CTL_ADD:
        return epoll_add(thread, epoll, file, fd, event.events, event.data);
    case EPOLL_CTL_MOD:
        return epoll_change(thread, epoll, file, fd, event.events, event.data);
    case EPOLL_CTL_DEL:
        return epoll_remove(epoll, file, fd);
    default:
        return -EINVAL;
    }
}

int64_t syscall_epoll_ctl(struct thread *thread, struct trap_frame *frame)
{
    const struct file *owner = files_get(thread->process, (int32_t)frame->rdi);
    int32_t fd = (int32_t)frame->rdx;
    struct file *file = files_get(thread->process, fd);
    int result;

    if (owner == NULL || file == NULL)
        return -EBADF;
    if (file->type->poll == NULL)
        return -EPERM;
    if (owner->type != &epoll_file || owner == file)
        return -EINVAL;
    files_hold(file);
    input_ask(thread, file);
    owner = files_get(thread->process, (int32_t)frame->rdi);
    if (owner != NULL && owner->type == &epoll_file && files_get(thread->process, fd) == file)
        result = epoll_control(thread, owner->state, (uint32_t)frame->rsi, file, fd, frame->r10);
    else
        result = -EBADF; /* another thread closed it during the wait */
    files_release(file);
    return result;
}

static int64_t wait_ready(struct thread *thread, struct epoll *epoll, uint64_t user, uint32_t most,
                          uint64_t ns)
{
    uint64_t deadline = ns ? poll_deadline(ns) : 0;

    for (;;) {
        enum wait_end end;
        int64_t count;

        input_ask_watched(thread);
        count = epoll_collect(thread, epoll, user, most);
        if (count || !ns) {
            if (epoll->ready.first != NULL && epoll->waiting)
                wait_wake_key(WAIT_KEY(epoll), 1); /* more are ready */
            return count;
        }
        if (!poll_left(deadline))
            return 0;
        end = wait_counted(thread, WAIT_KEY(epoll), poll_left(deadline), "epoll_wait",
                           &epoll->waiting);
        if (end == WAIT_SIGNAL && epoll->ready.first == NULL)
            return -EINTR;
    }
}

static int64_t wait_events(struct thread *thread, const struct trap_frame *frame, uint64_t ns)
{
    struct file *file = files_get(thread->process, (int32_t)frame->rdi);
    int32_t most = (int32_t)frame->rdx;
    int64_t result;

    if (most <= 0 || most > EVENTS_MAX)
        return -EINVAL;
    if (file == NULL)
        return -EBADF;
    if (file->type != &epoll_file)
        return -EINVAL;
    files_hold(file);
    result = wait_ready(thread, file->state, frame->rsi, (uint32_t)most, ns);
    files_release(file);
    return result;
}

static uint64_t from_ms(uint64_t argument)
{
    int32_t ms = (int32_t)argument;

    return ms < 0 ? WAIT_FOREVER : (uint64_t)ms * NS_PER_MS;
}

int64_t syscall_epoll_wait(struct thread *thread, struct trap_frame *frame)
{
    return wait_events(thread, frame, from_ms(frame->r10));
}

static int64_t wait_masked(struct thread *thread, const struct trap_frame *frame, uint64_t ns)
{
    bool changed;
    int64_t result = poll_begin_mask(thread, frame->r8, frame->r9, &changed);

    if (result)
        return result;
    result = wait_events(thread, frame, ns);
    poll_end_mask(thread, changed, result);
    return result;
}

int64_t syscall_epoll_pwait(struct thread *thread, struct trap_frame *frame)
{
    return wait_masked(thread, frame, from_ms(frame->r10));
}

int64_t syscall_epoll_pwait2(struct thread *thread, struct trap_frame *frame)
{
    uint64_t ns = WAIT_FOREVER;

    if (frame->r10) {
        int error = uaccess_time(frame->r10, &ns);

        if (error)
            return error;
    }
    return wait_masked(thread, frame, ns);
}
