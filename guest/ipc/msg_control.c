/* msgctl, and what /proc says of queues of messages. */
#include <errno.h>
#include <linux/msg.h>

#include "guest/base/syscall_handlers.h"
#include "guest/ipc/msg.h"
#include "guest/memory/heap.h"
#include "guest/vm/uaccess.h"

static int64_t describe_limits(uint32_t command, uint64_t user)
{
    bool use = command == MSG_INFO;
    const struct msginfo info = {.msgpool = use ? (int)msg_queues.count : MSGPOOL,
                                 .msgmap = use ? (int)msg_count : MSGMAP,
                                 .msgmax = MSG_BYTES_MAX,
                                 .msgmnb = MSG_QUEUE_BYTES,
                                 .msgmni = MSG_QUEUES_MOST,
                                 .msgssz = MSGSSZ,
                                 .msgtql = use ? (int)msg_bytes : MSGTQL,
                                 .msgseg = MSGSEG};

    return copy_to_user(user, &info, sizeof info) ? -EFAULT : ipc_top(&msg_queues);
}

static int64_t describe(int64_t id, uint32_t command, uint64_t user)
{
    int error;
    const struct msg_queue *q = (const struct msg_queue *)ipc_subject(
        &msg_queues, id, command != IPC_STAT, command == MSG_STAT_ANY ? 0 : IPC_READ, &error);
    struct msqid64_ds out;

    if (q == NULL)
        return error;
    out = (struct msqid64_ds){.msg_stime = (long)q->sent,
                              .msg_rtime = (long)q->received,
                              .msg_ctime = (long)q->object.changed,
                              .msg_cbytes = q->bytes,
                              .msg_qnum = q->count,
                              .msg_qbytes = q->bytes_max,
                              .msg_lspid = (int)q->sender,
                              .msg_lrpid = (int)q->receiver};
    ipc_describe(&q->object, &out.msg_perm);
    if (copy_to_user(user, &out, sizeof out) != 0)
        return -EFAULT;
    return command == IPC_STAT ? 0 : q->object.id;
}

static void msg_remove(struct msg_queue *queue)
{
    struct msg_message *next;

    msg_end_waits(queue, -EIDRM);
    msg_count -= queue->count;
    msg_bytes -= queue->bytes;
    for (struct msg_message *m = queue->first; m != NULL; m = next) {
        next = m->next;
        msg_free(m);
    }
    ipc_remove(&msg_queues, &queue->object);
    heap_free(queue, sizeof *queue);
}

/* Those who wait look again: what they may do and how much fits may be different now. */
static int64_t set_queue(struct msg_queue *queue, const struct msqid64_ds *wanted)
{
    int error;

    if (wanted->msg_qbytes > MSG_QUEUE_BYTES)
        return -EPERM;
    error = ipc_set(&queue->object, &wanted->msg_perm);
    if (error)
        return error;
    queue->bytes_max = wanted->msg_qbytes;
    msg_end_waits(queue, 0);
    return 0;
}

/* IPC_SET and IPC_RMID: the user made the queue, and may. */
static int64_t change(int64_t id, uint32_t command, uint64_t user)
{
    struct msg_queue *queue;
    struct msqid64_ds wanted;

    if (command == IPC_SET && copy_from_user(&wanted, user, sizeof wanted) != 0)
        return -EFAULT;
    queue = (struct msg_queue *)ipc_find(&msg_queues, id);
    if (queue == NULL)
        return -EINVAL;
    if (command == IPC_SET)
        return set_queue(queue, &wanted);
    msg_remove(queue);
    return 0;
}

int64_t syscall_msgctl(struct thread *, struct trap_frame *frame)
{
    uint32_t command = (uint32_t)frame->rsi;
    int64_t id = (int32_t)frame->rdi;

    if (id < 0 || (int32_t)command < 0)
        return -EINVAL;
    switch (command) {
    case IPC_INFO:
    case MSG_INFO:
        return describe_limits(command, frame->rdx);
    case IPC_STAT:
    case MSG_STAT:
    case MSG_STAT_ANY:
        return describe(id, command, frame->rdx);
    case IPC_SET:
    case IPC_RMID:
        return change(id, command, frame->rdx);
    default:
        return -EINVAL;
    }
}

void msg_list(const struct thread *, const struct inode *, struct text *text)
{
    const struct msg_queue *q;

    text_add(text,
             "       key      msqid perms      cbytes       qnum lspid lrpid   uid   gid  cuid  "
             "cgid      stime      rtime      ctime\n");
    for (uint32_t i = 0; (q = (struct msg_queue *)ipc_next(&msg_queues, &i)) != NULL; i++)
        text_add(text, "%10d %10d  %4o  %10lu %10lu %5u %5u %5u %5u %5u %5u %10lu %10lu %10lu\n",
                 (int)q->object.key, q->object.id, q->object.mode, q->bytes, q->count, q->sender,
                 q->receiver, q->object.user, q->object.group, q->object.creator_user,
                 q->object.creator_group, q->sent, q->received, q->object.changed);
}
