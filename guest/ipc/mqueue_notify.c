/* mq_notify: a process is told when a message comes into an empty queue. */
#include <errno.h>
#include <signal.h>
#include <sys/stat.h>

#include "guest/base/syscall_handlers.h"
#include "guest/ipc/mqueue.h"
#include "guest/ipc/mqueue_use.h"
#include "guest/signal/signal.h"
#include "guest/socket/socket.h"
#include "guest/vm/uaccess.h"

#define SIGEVENT_BYTES 64u

struct notify_request { /* struct sigevent */
    uint64_t value;
    int32_t signal;
    int32_t kind;
    uint8_t rest[SIGEVENT_BYTES - 16];
};
_Static_assert(sizeof(struct notify_request) == SIGEVENT_BYTES, "struct sigevent");

static void end_notice(struct mqueue_notice *notice, uint8_t event)
{
    if (notice->socket != NULL) {
        notice->cookie[MQUEUE_COOKIE_BYTES - 1] = event;
        socket_netlink_put(socket_of(notice->socket), notice->cookie, MQUEUE_COOKIE_BYTES);
        files_release(notice->socket);
    }
    *notice = (struct mqueue_notice){0};
}

void mqueue_notify(struct mqueue *queue, const struct process *sender)
{
    const struct mqueue_notice *n = &queue->notice;
    const struct signal_note note = {
        .signal = n->signal, .code = SI_MESGQ, .words = {signal_sender_word(sender), n->value}};

    struct process *process = process_find(n->pid);

    if (process != NULL && n->kind == SIGEV_SIGNAL && n->signal)
        (void)signal_send_process_note(process, &note); /* as in Linux, a full queue loses it */
    end_notice(&queue->notice, MQUEUE_WOKEN);
}

void mqueue_forget(struct mqueue *queue, const struct process *process)
{
    if (queue->notice.pid == process->pid)
        end_notice(&queue->notice, MQUEUE_REMOVED);
}

/* A thread of the C library is told by a socket: finds it, and reads the cookie for it. */
static int prepare_socket(const struct thread *thread, const struct notify_request *r,
                          struct mqueue_notice *notice)
{
    struct file *file = files_get(thread->process, r->signal);

    if (copy_from_user(notice->cookie, r->value, sizeof notice->cookie) != 0)
        return -EFAULT;
    if (file == NULL)
        return -EBADF;
    if (socket_netlink_of(file) == NULL)
        return S_ISSOCK(file->type->mode) ? -EINVAL : -ENOTSOCK;
    notice->socket = file;
    return 0;
}

/* Returns 0 if the kernel can tell in this way. */
static int prepare_notice(const struct thread *thread, const struct notify_request *r,
                          struct mqueue_notice *notice)
{
    *notice = (struct mqueue_notice){.pid = thread->process->pid,
                                     .kind = (uint32_t)r->kind,
                                     .signal = (uint32_t)r->signal,
                                     .value = r->value};
    switch (r->kind) {
    case SIGEV_NONE:
        return 0;
    case SIGEV_SIGNAL:
        return r->signal >= 0 && r->signal <= SIGNALS ? 0 : -EINVAL;
    case SIGEV_THREAD:
        return prepare_socket(thread, r, notice);
    default:
        return -EINVAL;
    }
}

int64_t syscall_mq_notify(struct thread *thread, struct trap_frame *frame)
{
    struct file *file = mqueue_use(thread, frame->rdi, 0);
    struct notify_request request;
    struct mqueue_notice notice;
    struct mqueue *queue;
    int error = 0;

    if (frame->rsi) {
        if (copy_from_user(&request, frame->rsi, sizeof request) != 0)
            return -EFAULT;
        error = prepare_notice(thread, &request, &notice);
    }
    if (error || file == NULL)
        return error ? error : -EBADF;
    queue = file->state;
    if (!frame->rsi) {
        mqueue_forget(queue, thread->process);
        return 0;
    }
    if (queue->notice.pid)
        return -EBUSY;
    queue->notice = notice;
    if (notice.socket != NULL)
        files_hold(notice.socket);
    return 0;
}
