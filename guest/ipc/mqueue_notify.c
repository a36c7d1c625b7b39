/* mq_notify: a process is told when a message comes into an empty queue. */
#include <errno.h>
#include <linux/mqueue.h>
#include <signal.h>
#include <sys/stat.h>

#include "guest/base/syscall_handlers.h"
#include "guest/ipc/mqueue.h"
#include "guest/ipc/mqueue_use.h"
#include "guest/signal/signal.h"
#include "guest/vm/uaccess.h"

#define SIGEVENT_BYTES 64u

struct notify_request { /* struct sigevent */
    uint64_t value;
    int32_t signal;
    int32_t kind;
    uint8_t rest[SIGEVENT_BYTES - 16];
};
_Static_assert(sizeof(struct notify_request) == SIGEVENT_BYTES, "struct sigevent");

void mqueue_notify(struct mqueue *queue, const struct process *sender)
{
    struct mqueue_notice n = queue->notice;
    const struct signal_note note = {
        .signal = n.signal, .code = SI_MESGQ, .words = {signal_sender_word(sender), n.value}};

    queue->notice.process = NULL;
    if (n.process != NULL && n.kind == SIGEV_SIGNAL && n.signal)
        (void)signal_send_process_note(n.process, &note); /* as in Linux, a full queue loses it */
}

/* Returns 0 if the kernel can tell in this way.  glibc's threads are told by a netlink socket. */
static int check_request(const struct thread *thread, const struct notify_request *r)
{
    const struct file *file;

    switch (r->kind) {
    case SIGEV_NONE:
        return 0;
    case SIGEV_SIGNAL:
        return r->signal >= 0 && r->signal <= SIGNALS ? 0 : -EINVAL;
    case SIGEV_THREAD:
        file = files_get(thread->process, r->signal);
        if (file == NULL)
            return -EBADF;
        return S_ISSOCK(file->type->mode) ? -EINVAL : -ENOTSOCK;
    default:
        return -EINVAL;
    }
}

int64_t syscall_mq_notify(struct thread *thread, struct trap_frame *frame)
{
    struct file *file = mqueue_use(thread, frame->rdi, 0);
    struct notify_request request;
    struct mqueue_notice *notice;
    int error = 0;

    if (frame->rsi) {
        if (copy_from_user(&request, frame->rsi, sizeof request) != 0)
            return -EFAULT;
        error = check_request(thread, &request);
    }
    if (error || file == NULL)
        return error ? error : -EBADF;
    notice = &((struct mqueue *)file->state)->notice;
    if (!frame->rsi) {
        if (notice->process == thread->process)
            notice->process = NULL;
        return 0;
    }
    if (notice->process != NULL)
        return -EBUSY;
    *notice = (struct mqueue_notice){.process = thread->process,
                                     .kind = (uint32_t)request.kind,
                                     .signal = (uint32_t)request.signal,
                                     .value = request.value};
    return 0;
}
