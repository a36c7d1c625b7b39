/* The socket for mq_notify's cookies. */
#include "guest/ipc/mqueue_socket.h"

#include <errno.h>
#include <linux/fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "guest/file/poll.h"
#include "guest/memory/heap.h"
#include "guest/vm/uaccess.h"

#define COOKIES 64u

struct cookie_queue {
    uint8_t cookies[COOKIES][MQUEUE_COOKIE_BYTES];
    uint32_t first, count;
};

/* Reads one cookie, or its beginning: the socket keeps messages apart. */
static int64_t socket_read(struct thread *thread, struct file *file, uint64_t /* offset */,
                           uint64_t user, uint64_t bytes)
{
    struct cookie_queue *queue = file->state;
    const uint8_t *cookie;

    while (!queue->count) {
        if (file->flags & O_NONBLOCK)
            return -EAGAIN;
        if (wait_on(thread, WAIT_KEY(queue), WAIT_FOREVER, "a notice") == WAIT_SIGNAL &&
            !queue->count)
            return -EINTR;
    }
    cookie = queue->cookies[queue->first];
    queue->first = (queue->first + 1) % COOKIES;
    queue->count--;
    bytes = bytes < MQUEUE_COOKIE_BYTES ? bytes : MQUEUE_COOKIE_BYTES;
    return copy_to_user(user, cookie, bytes) ? -EFAULT : (int64_t)bytes;
}

static uint32_t socket_poll(struct thread *, struct file *file)
{
    const struct cookie_queue *queue = file->state;

    return (queue->count ? POLL_READABLE : 0) | POLL_WRITABLE;
}

static void socket_release(struct file *file)
{
    heap_free(file->state, sizeof(struct cookie_queue));
}

const struct file_type mqueue_socket = {
    .mode = S_IFSOCK | 0777, .read = socket_read, .poll = socket_poll, .release = socket_release};

int64_t mqueue_socket_new(struct process *process, uint32_t type, uint32_t protocol)
{
    uint32_t flags = type & (SOCK_NONBLOCK | SOCK_CLOEXEC);
    struct file *file;

    if ((type & ~flags) != SOCK_RAW && (type & ~flags) != SOCK_DGRAM)
        return -ESOCKTNOSUPPORT;
    if (protocol) /* routes and the like */
        return -EPROTONOSUPPORT;
    file = files_new(process, &mqueue_socket, O_RDWR | (flags & SOCK_NONBLOCK));
    if (file == NULL)
        return -ENFILE;
    file->state = heap_alloc(sizeof(struct cookie_queue));
    if (file->state != NULL)
        return files_add_new(process, file, flags & SOCK_CLOEXEC);
    files_discard(file);
    return -ENOMEM;
}

int64_t mqueue_socket_receive(struct thread *thread, const struct trap_frame *frame)
{
    struct file *file = files_get(thread->process, (int32_t)frame->rdi);
    int64_t result;

    if (file == NULL || file->type != &mqueue_socket)
        return file == NULL ? -EBADF : -ENOTSOCK;
    if (frame->r10 & MSG_DONTWAIT && !(socket_poll(thread, file) & POLLIN))
        return -EAGAIN;
    files_hold(file);
    result = socket_read(thread, file, 0, frame->rsi, frame->rdx);
    files_release(file);
    return result;
}

void mqueue_socket_send(struct file *file, const uint8_t *cookie, uint8_t event)
{
    struct cookie_queue *queue = file->state;
    uint8_t *place = queue->cookies[(queue->first + queue->count) % COOKIES];

    if (queue->count == COOKIES)
        return;
    memcpy(place, cookie, MQUEUE_COOKIE_BYTES);
    place[MQUEUE_COOKIE_BYTES - 1] = event;
    queue->count++;
    wait_wake_key(WAIT_KEY(queue), 1);
    poll_changed(file, POLL_READABLE);
}
