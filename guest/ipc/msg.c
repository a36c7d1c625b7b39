/* Messages: msgget, msgsnd, msgrcv. */
#include "guest/ipc/msg.h"

#include <errno.h>
#include <linux/msg.h>

#include "guest/base/syscall_handlers.h"
#include "guest/memory/heap.h"
#include "guest/thread/wait.h"
#include "guest/vm/uaccess.h"

uint64_t msg_count, msg_bytes;

/* ---- queues */

static int64_t msg_make(struct thread *, uint32_t key, uint64_t /* size */, uint32_t flags)
{
    struct msg_queue *queue = ipc_memory(sizeof *queue) ? heap_alloc(sizeof *queue) : NULL;
    int64_t id;

    if (queue == NULL)
        return -ENOMEM;
    queue->end = &queue->first;
    queue->bytes_max = MSG_QUEUE_BYTES;
    id = ipc_add(&msg_queues, &queue->object, key, flags);
    if (id < 0)
        heap_free(queue, sizeof *queue);
    return id;
}

struct ipc_kind msg_queues = {.most = MSG_QUEUES_MOST, .make = msg_make};

int64_t syscall_msgget(struct thread *thread, struct trap_frame *frame)
{
    return ipc_get(&msg_queues, thread, (uint32_t)frame->rdi, 0, (uint32_t)frame->rsi);
}

static bool has_room(const struct msg_queue *queue, uint64_t bytes)
{
    return bytes + queue->bytes <= queue->bytes_max && queue->count + 1 <= queue->bytes_max;
}

static void msg_append(struct msg_queue *queue, struct msg_message *message)
{
    *queue->end = message;
    queue->end = &message->next;
    queue->bytes += message->bytes;
    queue->count++;
    msg_bytes += message->bytes;
    msg_count++;
}

static struct msg_message *msg_take(struct msg_queue *queue, struct msg_message **link)
{
    struct msg_message *message = *link;

    *link = message->next;
    if (queue->end == &message->next)
        queue->end = link;
    queue->bytes -= message->bytes;
    queue->count--;
    msg_bytes -= message->bytes;
    msg_count--;
    return message;
}

void msg_free(struct msg_message *message)
{
    heap_free(message, sizeof *message + message->bytes);
}

/* ---- waiters */

static void remove_waiter(struct msg_queue *queue, struct msg_waiter *waiter)
{
    *(waiter->next != NULL ? &waiter->next->previous : &queue->last_waiter) = waiter->previous;
    *(waiter->previous != NULL ? &waiter->previous->next : &queue->first_waiter) = waiter->next;
}

static void end_wait(struct msg_queue *queue, struct msg_waiter *waiter, int result)
{
    remove_waiter(queue, waiter);
    waiter->result = result;
    wait_wake(waiter->thread);
}

/* Lets senders try again that there is room for. */
static void msg_wake_senders(struct msg_queue *queue)
{
    struct msg_waiter *next;

    for (struct msg_waiter *w = queue->first_waiter; w != NULL; w = next) {
        next = w->next;
        if (w->sends && has_room(queue, w->bytes))
            end_wait(queue, w, 0);
    }
}

void msg_end_waits(struct msg_queue *queue, int result)
{
    while (queue->first_waiter != NULL)
        end_wait(queue, queue->first_waiter, result);
}

/* Waits for a change of the queue.  Returns 0: try again or take the message, or -EINTR or -EIDRM.
 */
static int64_t msg_sleep(struct msg_queue **of, struct msg_waiter *waiter)
{
    struct msg_queue *queue = *of;
    int32_t id = queue->object.id;

    waiter->result = 1;
    waiter->next = NULL;
    waiter->previous = queue->last_waiter;
    *(queue->last_waiter != NULL ? &queue->last_waiter->next : &queue->first_waiter) = waiter;
    queue->last_waiter = waiter;
    wait_for(waiter->thread, WAIT_FOREVER, "a message");
    if (waiter->result > 0) {
        remove_waiter(queue, waiter);
        return -EINTR;
    }
    if (waiter->result || waiter->message != NULL)
        return waiter->result;
    *of = (struct msg_queue *)ipc_find(&msg_queues, id); /* it may have been removed since */
    return *of != NULL ? 0 : -EIDRM;
}

/* Hands a message to the first receiver that wants it.  One that has no room for it is told so.
 * Returns false if no receiver wants it. */
static bool hand_over(struct msg_queue *queue, struct msg_message *message)
{
    struct msg_waiter *next;

    for (struct msg_waiter *w = queue->first_waiter; w != NULL; w = next) {
        struct msg_message *alone = message;

        next = w->next;
        if (w->sends || msg_search(&alone, &w->want) == NULL)
            continue;
        if (w->bytes < message->bytes) {
            end_wait(queue, w, -E2BIG);
            continue;
        }
        w->message = message;
        queue->receiver = w->thread->process->pid;
        queue->received = ipc_now();
        end_wait(queue, w, 0);
        return true;
    }
    return false;
}

/* ---- msgsnd */

static int64_t msg_send(struct thread *thread, int64_t id, struct msg_message *message,
                        uint32_t flags)
{
    struct msg_queue *queue = (struct msg_queue *)ipc_find(&msg_queues, id);
    int64_t error = queue == NULL ? -EINVAL : 0;

    while (!error) {
        struct msg_waiter waiter = {.thread = thread, .sends = true, .bytes = message->bytes};

        error = ipc_allowed(&queue->object, IPC_WRITE);
        if (error || has_room(queue, message->bytes))
            break;
        error = flags & IPC_NOWAIT ? -EAGAIN : msg_sleep(&queue, &waiter);
    }
    if (error) {
        msg_free(message);
        return error;
    }
    queue->sender = thread->process->pid;
    queue->sent = ipc_now();
    if (!hand_over(queue, message))
        msg_append(queue, message);
    return 0;
}

int64_t syscall_msgsnd(struct thread *thread, struct trap_frame *frame)
{
    uint64_t bytes = frame->rdx;
    struct msg_message *message;
    int64_t type;

    if (copy_from_user(&type, frame->rsi, sizeof type) != 0)
        return -EFAULT;
    if (bytes > MSG_BYTES_MAX || (int32_t)frame->rdi < 0 || type < 1)
        return -EINVAL;
    message = ipc_memory(bytes) ? heap_alloc(sizeof *message + bytes) : NULL;
    if (message == NULL)
        return -ENOMEM;
    message->type = type;
    message->bytes = bytes;
    if (copy_from_user(message->text, frame->rsi + sizeof type, bytes) != 0) {
        msg_free(message);
        return -EFAULT;
    }
    return msg_send(thread, (int32_t)frame->rdi, message, (uint32_t)frame->r10);
}

/* ---- msgrcv */

static struct msg_want want_of(int64_t type, uint32_t flags)
{
    if (flags & MSG_COPY)
        return (struct msg_want){MSG_NUMBER, type};
    if (!type)
        return (struct msg_want){MSG_ANY, 0};
    if (type < 0)
        return (struct msg_want){MSG_LOWEST, type == INT64_MIN ? INT64_MAX : -type};
    return (struct msg_want){flags & MSG_EXCEPT ? MSG_OTHER : MSG_EQUAL, type};
}

static int64_t deliver(const struct msg_message *message, uint64_t user, uint64_t room)
{
    uint64_t bytes = message->bytes < room ? message->bytes : room;

    if (copy_to_user(user, &message->type, sizeof message->type) != 0 ||
        copy_to_user(user + sizeof message->type, message->text, bytes) != 0)
        return -EFAULT;
    return (int64_t)bytes;
}

/* MSG_COPY: leaves the message where it is.  As in Linux, one that is too long is refused. */
static int64_t msg_copy(struct msg_queue *queue, const struct msg_waiter *w, uint64_t user,
                        uint64_t room)
{
    struct msg_message **found = msg_search(&queue->first, &w->want);

    if (found == NULL)
        return -ENOMSG;
    if ((*found)->bytes > room)
        return w->bytes == UINT64_MAX ? -EINVAL : -E2BIG;
    return deliver(*found, user, room);
}

/* Waits for a message that is wanted and takes it out of the queue. */
static int64_t msg_receive(struct msg_queue *queue, struct msg_waiter *w, uint32_t flags)
{
    for (;;) {
        struct msg_message **found;
        int64_t error = ipc_allowed(&queue->object, IPC_READ);

        if (error)
            return error;
        found = msg_search(&queue->first, &w->want);
        if (found != NULL) {
            if ((*found)->bytes > w->bytes)
                return -E2BIG;
            w->message = msg_take(queue, found);
            queue->received = ipc_now();
            queue->receiver = w->thread->process->pid;
            msg_wake_senders(queue);
            return 0;
        }
        if (flags & IPC_NOWAIT)
            return -ENOMSG;
        error = msg_sleep(&queue, w);
        if (error || w->message != NULL)
            return error;
    }
}

int64_t syscall_msgrcv(struct thread *thread, struct trap_frame *frame)
{
    uint32_t flags = (uint32_t)frame->r8;
    uint64_t room = frame->rdx, user = frame->rsi;
    struct msg_waiter w = {.thread = thread,
                           .bytes = flags & MSG_NOERROR ? UINT64_MAX : room,
                           .want = want_of((int64_t)frame->r10, flags)};
    struct msg_queue *queue;
    int64_t result;

    if ((int32_t)frame->rdi < 0 || (int64_t)room < 0 ||
        (flags & MSG_COPY && (flags & MSG_EXCEPT || !(flags & IPC_NOWAIT))))
        return -EINVAL;
    queue = (struct msg_queue *)ipc_find(&msg_queues, (int32_t)frame->rdi);
    if (queue == NULL)
        return -EINVAL;
    if (flags & MSG_COPY) {
        result = ipc_allowed(&queue->object, IPC_READ);
        return result ? result : msg_copy(queue, &w, user, room);
    }
    result = msg_receive(queue, &w, flags);
    if (result)
        return result;
    result = deliver(w.message, user, room);
    msg_free(w.message);
    return result;
}
