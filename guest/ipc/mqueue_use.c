/* mq_timedsend and mq_timedreceive. */
#include "guest/ipc/mqueue_use.h"

#include <errno.h>
#include <linux/fcntl.h>
#include <linux/mqueue.h>

#include "guest/base/syscall_handlers.h"
#include "guest/cpu/clock.h"
#include "guest/file/poll.h"
#include "guest/memory/heap.h"
#include "guest/thread/wait.h"
#include "guest/vm/uaccess.h"

#define PRIORITIES 32768u /* MQ_PRIO_MAX */

struct file *mqueue_use(const struct thread *thread, uint64_t descriptor, uint32_t how)
{
    struct file *file = files_get(thread->process, (int32_t)descriptor);
    uint32_t access = file != NULL ? file->flags & O_ACCMODE : 0;

    if (file == NULL || file->type != &mqueue_file ||
        (how & MQUEUE_RECEIVES && access == O_WRONLY) || (how & MQUEUE_SENDS && access == O_RDONLY))
        return NULL;
    return file;
}

/* Reads the time at which a wait ends; 0: there is none. */
static int read_deadline(uint64_t user, uint64_t *until)
{
    *until = WAIT_FOREVER;
    return user ? uaccess_time(user, until) : 0;
}

static uint64_t left_until(uint64_t until)
{
    uint64_t now = clock_realtime_ns();

    if (until == WAIT_FOREVER)
        return WAIT_FOREVER;
    return until > now ? until - now : 0;
}

/* Waits as the last of a list for another thread to serve the waiter.  Returns 0 when it is served,
 * or -ETIMEDOUT or -EINTR. */
static int64_t mqueue_sleep(struct mqueue_waiter **list, struct mqueue_waiter *waiter,
                            uint64_t until)
{
    struct mqueue_waiter **link = list;
    enum wait_end end;

    while (*link != NULL)
        link = &(*link)->next;
    *link = waiter;
    end = wait_for(waiter->thread, left_until(until), "a message queue");
    if (waiter->done)
        return 0;
    for (link = list; *link != waiter;)
        link = &(*link)->next;
    *link = waiter->next;
    return end == WAIT_SIGNAL ? -EINTR : -ETIMEDOUT;
}

/* Takes the first waiter off its list and wakes it. */
static void serve_first(struct mqueue_waiter **list, struct mqueue_message *message)
{
    struct mqueue_waiter *waiter = *list;

    *list = waiter->next;
    waiter->message = message;
    waiter->done = true;
    wait_wake(waiter->thread);
}

static void free_message(struct mqueue_message *message)
{
    heap_free(message, sizeof *message + message->bytes);
}

/* ---- sending */

/* Takes the message, also if it fails. */
static int64_t mqueue_send(struct thread *thread, const struct file *file,
                           struct mqueue_message *message, uint64_t until)
{
    struct mqueue *queue = file->state;
    struct mqueue_waiter waiter = {.thread = thread, .message = message};
    int64_t error;

    if (queue->count >= queue->messages_max) {
        error = file->flags & O_NONBLOCK ? -EAGAIN : mqueue_sleep(&queue->senders, &waiter, until);
        if (error)
            free_message(message);
        return error;
    }
    if (queue->receivers != NULL) {
        serve_first(&queue->receivers, message);
        return 0;
    }
    mqueue_add(queue, message);
    if (queue->count == 1)
        mqueue_notify(queue, thread->process);
    mqueue_changed(queue, POLL_READABLE);
    return 0;
}

static struct mqueue_message *read_message(uint64_t user, uint64_t bytes, uint32_t priority,
                                           int64_t *error)
{
    struct mqueue_message *message = heap_alloc(sizeof *message + bytes);

    *error = -ENOMEM;
    if (message == NULL)
        return NULL;
    message->bytes = bytes;
    message->priority = priority;
    if (copy_from_user(message->text, user, bytes) == 0)
        return message;
    free_message(message);
    *error = -EFAULT;
    return NULL;
}

int64_t syscall_mq_timedsend(struct thread *thread, struct trap_frame *frame)
{
    struct file *file = mqueue_use(thread, frame->rdi, MQUEUE_SENDS);
    const struct mqueue *queue = file != NULL ? file->state : NULL;
    uint32_t priority = (uint32_t)frame->r10;
    struct mqueue_message *message;
    uint64_t until;
    int64_t result = read_deadline(frame->r8, &until);

    if (result)
        return result;
    if (priority >= PRIORITIES)
        return -EINVAL;
    if (file == NULL)
        return -EBADF;
    if (frame->rdx > queue->bytes_max)
        return -EMSGSIZE;
    message = read_message(frame->rsi, frame->rdx, priority, &result);
    if (message == NULL)
        return result;
    files_hold(file);
    result = mqueue_send(thread, file, message, until);
    files_release(file);
    return result;
}

/* ---- receiving */

/* Returns the first message; NULL and *error if there is none. */
static struct mqueue_message *mqueue_receive(struct thread *thread, const struct file *file,
                                             uint64_t until, int64_t *error)
{
    struct mqueue *queue = file->state;
    struct mqueue_message *message = queue->first;
    struct mqueue_waiter waiter = {.thread = thread};

    if (message == NULL) {
        *error =
            file->flags & O_NONBLOCK ? -EAGAIN : mqueue_sleep(&queue->receivers, &waiter, until);
        return *error ? NULL : waiter.message;
    }
    queue->first = message->next;
    queue->count--;
    queue->bytes -= message->bytes;
    if (queue->senders != NULL) {
        mqueue_add(queue, queue->senders->message);
        serve_first(&queue->senders, NULL);
    } else {
        mqueue_changed(queue, POLL_WRITABLE);
    }
    return message;
}

static int64_t deliver(const struct mqueue_message *message, uint64_t user, uint64_t priority)
{
    if ((priority && copy_to_user(priority, &message->priority, sizeof message->priority) != 0) ||
        copy_to_user(user, message->text, message->bytes) != 0)
        return -EFAULT;
    return (int64_t)message->bytes;
}

int64_t syscall_mq_timedreceive(struct thread *thread, struct trap_frame *frame)
{
    struct file *file = mqueue_use(thread, frame->rdi, MQUEUE_RECEIVES);
    const struct mqueue *queue = file != NULL ? file->state : NULL;
    struct mqueue_message *message;
    uint64_t until;
    int64_t result = read_deadline(frame->r8, &until);

    if (result)
        return result;
    if (file == NULL)
        return -EBADF;
    if (frame->rdx < queue->bytes_max)
        return -EMSGSIZE;
    files_hold(file);
    message = mqueue_receive(thread, file, until, &result);
    if (message != NULL) {
        result = deliver(message, frame->rsi, frame->r10);
        free_message(message);
    }
    files_release(file);
    return result;
}
