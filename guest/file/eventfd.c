/* eventfd: a counter that threads wait for. */
#include <errno.h>
#include <linux/fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>

#include "guest/base/syscall_handlers.h"
#include "guest/file/files.h"
#include "guest/file/poll.h"
#include "guest/memory/heap.h"
#include "guest/thread/wait.h"
#include "guest/vm/uaccess.h"

#define COUNT_MAX (UINT64_MAX - 1)

struct event {
    uint64_t count;
    bool semaphore;
    uint32_t waiting;
};

static void eventfd_tell(struct file *file, struct event *event, uint32_t events_now)
{
    if (event->waiting)
        wait_wake_key(WAIT_KEY(event), UINT32_MAX);
    poll_changed(file, events_now);
}

/* Waits for a change of the counter.  Returns 0, -EAGAIN or -EINTR. */
static int64_t wait_change(struct thread *thread, const struct file *file, struct event *event)
{
    if (file->flags & O_NONBLOCK)
        return -EAGAIN;
    return wait_counted(thread, WAIT_KEY(event), WAIT_FOREVER, "an eventfd", &event->waiting) ==
                   WAIT_SIGNAL
               ? -EINTR
               : 0;
}

static int64_t read_event(struct thread *thread, struct file *file, uint64_t /* offset */,
                          uint64_t user, uint64_t bytes)
{
    struct event *event = file->state;
    uint64_t value;

    if (bytes < sizeof value)
        return -EINVAL;
    while (!event->count) {
        int64_t error = wait_change(thread, file, event);

        if (error && !event->count)
            return error;
    }
    value = event->semaphore ? 1 : event->count;
    event->count -= value;
    eventfd_tell(file, event, POLLOUT);
    return copy_to_user(user, &value, sizeof value) ? -EFAULT : (int64_t)sizeof value;
}

static int64_t write_event(struct thread *thread, struct file *file, uint64_t /* offset */,
                           uint64_t user, uint64_t bytes)
{
    struct event *event = file->state;
    uint64_t value;

    if (bytes < sizeof value)
        return -EINVAL;
    if (copy_from_user(&value, user, sizeof value) != 0)
        return -EFAULT;
    if (value == UINT64_MAX)
        return -EINVAL;
    while (value > COUNT_MAX - event->count) {
        int64_t error = wait_change(thread, file, event);

        if (error && value > COUNT_MAX - event->count)
            return error;
    }
    event->count += value;
    eventfd_tell(file, event, POLLIN);
    return sizeof value;
}

static uint32_t poll_event(struct thread *, struct file *file)
{
    const struct event *event = file->state;

    return (event->count ? POLLIN : 0) | (event->count < COUNT_MAX ? POLLOUT : 0);
}

static void release_event(struct file *file)
{
    heap_free(file->state, sizeof(struct event));
}

static const struct file_type file_event = {.mode = 0600,
                                            .ignores_seeks = true,
                                            .read = read_event,
                                            .write = write_event,
                                            .poll = poll_event,
                                            .release = release_event};

static int64_t make_event(struct thread *thread, uint64_t count, uint32_t flags)
{
    struct event *event;
    struct file *file;

    if (flags & ~(uint32_t)(EFD_SEMAPHORE | EFD_CLOEXEC | EFD_NONBLOCK))
        return -EINVAL;
    event = heap_alloc(sizeof *event);
    if (event == NULL)
        return -ENOMEM;
    *event = (struct event){.count = count, .semaphore = flags & EFD_SEMAPHORE};
    file = files_new(thread->process, &file_event, O_RDWR | (flags & EFD_NONBLOCK));
    if (file == NULL) {
        heap_free(event, sizeof *event);
        return -ENFILE;
    }
    file->state = event;
    return files_add_new(thread->process, file, flags & EFD_CLOEXEC);
}

int64_t syscall_eventfd(struct thread *thread, struct trap_frame *frame)
{
    return make_event(thread, (uint32_t)frame->rdi, 0);
}

int64_t syscall_eventfd2(struct thread *thread, struct trap_frame *frame)
{
    return make_event(thread, (uint32_t)frame->rdi, (uint32_t)frame->rsi);
}
