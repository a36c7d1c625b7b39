/* Message queues as files: how they are made, opened, polled, read. */
#include "guest/ipc/mqueue.h"

#include <errno.h>
#include <linux/resource.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>

#include "guest/base/text.h"
#include "guest/file/poll.h"
#include "guest/memory/heap.h"
#include "guest/thread/limits.h"
#include "guest/vm/uaccess.h"

#define LINE_BYTES 80u /* st_size of a queue's file, as Linux has it */
#define MESSAGE_COST 96u /* bytes that Linux counts for each message that a queue may have */

static uint32_t queues;
static uint64_t queues_bytes; /* what they may hold: RLIMIT_MSGQUEUE */

static struct mqueue *mqueue_of(const struct inode *inode)
{
    return (struct mqueue *)inode->context;
}

static uint64_t bytes_counted(const struct mqueue *queue)
{
    return queue->messages_max * (queue->bytes_max + MESSAGE_COST);
}

/* The queue's last name and its last file are gone. */
static void mqueue_gone(struct inode *inode)
{
    struct mqueue *queue = mqueue_of(inode);
    struct mqueue_message *next;

    for (struct mqueue_message *m = queue->first; m != NULL; m = next) {
        next = m->next;
        heap_free(m, sizeof *m + m->bytes);
    }
    queues--;
    queues_bytes -= bytes_counted(queue);
    heap_free(queue, sizeof *queue);
}

int mqueue_make(struct inode *inode, uint64_t messages_max, uint64_t bytes_max)
{
    uint64_t limit = cpu_this()->thread->process->limits[RLIMIT_MSGQUEUE].soft;
    struct mqueue *queue;

    if (queues >= MQUEUE_QUEUES_MAX)
        return -ENOSPC;
    queue = heap_alloc(sizeof *queue);
    if (queue == NULL)
        return -ENOMEM;
    queue->messages_max = messages_max;
    queue->bytes_max = bytes_max;
    if (queues_bytes + bytes_counted(queue) > limit) {
        heap_free(queue, sizeof *queue);
        return -EMFILE;
    }
    queues++;
    queues_bytes += bytes_counted(queue);
    inode->context = (uint64_t)queue;
    inode->type = &mqueue_file;
    inode->freed = mqueue_gone;
    inode->bytes = LINE_BYTES;
    return 0;
}

/* A file that open() makes in /dev/mqueue. */
static int make_default(struct inode *inode)
{
    return mqueue_make(inode, MQUEUE_MESSAGES_MAX, MQUEUE_BYTES_MAX);
}

static int mqueue_opened(struct thread *, struct file *file)
{
    struct mqueue *queue = mqueue_of(file->inode);

    file->state = queue;
    file->next_of_pipe = queue->files;
    queue->files = file;
    return 0;
}

static void mqueue_release(struct file *file)
{
    struct mqueue *queue = file->state;
    struct file **link;

    if (queue == NULL) /* it was not opened */
        return;
    link = &queue->files;
    while (*link != file)
        link = &(*link)->next_of_pipe;
    *link = file->next_of_pipe;
}

/* A process that closes one of its descriptors of the queue takes back what it asked mq_notify. */
static void mqueue_closed(const struct process *process, struct file *file)
{
    mqueue_forget(file->state, process);
}

static int64_t mqueue_read(struct thread *, struct file *file, uint64_t offset, uint64_t user,
                           uint64_t bytes)
{
    const struct mqueue *queue = file->state;
    const struct mqueue_notice *n = &queue->notice;
    char line[LINE_BYTES + 1];
    struct text text = {.out = line, .room = sizeof line};
    bool told = n->pid != 0;

    text_add(&text, "QSIZE:%-10lu NOTIFY:%-5u SIGNO:%-5u NOTIFY_PID:%-6u\n", queue->bytes,
             told ? n->kind : 0, told && n->kind == SIGEV_SIGNAL ? n->signal : 0, n->pid);
    if (offset >= text.used)
        return 0;
    bytes = bytes < text.used - offset ? bytes : text.used - offset;
    return copy_to_user(user, line + offset, bytes) ? -EFAULT : (int64_t)bytes;
}

static uint32_t mqueue_poll(struct thread *, struct file *file)
{
    const struct mqueue *queue = file->state;

    return (queue->count ? POLL_READABLE : 0) |
           (queue->count < queue->messages_max ? POLL_WRITABLE : 0);
}

const struct file_type mqueue_file = {.seekable = true,
                                      .make = make_default,
                                      .open = mqueue_opened,
                                      .read = mqueue_read,
                                      .poll = mqueue_poll,
                                      .closed = mqueue_closed,
                                      .release = mqueue_release};

void mqueue_changed(const struct mqueue *queue, uint32_t events)
{
    for (struct file *file = queue->files; file != NULL; file = file->next_of_pipe)
        poll_changed(file, events);
}

void mqueue_add(struct mqueue *queue, struct mqueue_message *message)
{
    struct mqueue_message **link = &queue->first;

    while (*link != NULL && (*link)->priority >= message->priority)
        link = &(*link)->next;
    message->next = *link;
    *link = message;
    queue->count++;
    queue->bytes += message->bytes;
}
