/* Files and credentials in messages. */
#include "guest/socket/socket_rights.h"

#include <errno.h>
#include <linux/fcntl.h>
#include <string.h>
#include <sys/socket.h>

#include "guest/base/context.h"
#include "guest/file/files.h"
#include "guest/memory/heap.h"
#include "guest/socket/socket.h"
#include "guest/thread/process.h"
#include "guest/vm/uaccess.h"

#define CREDENTIALS 2 /* SCM_CREDENTIALS, which needs _GNU_SOURCE */

struct credentials { /* struct ucred */
    uint32_t pid, user, group;
};

static uint32_t in_flight;

/* ---- dropping */

struct dropped { /* an array of files to release */
    struct dropped *next;
    uint32_t count;
};

/* Releasing a socket drops the files in its queue, which may be sockets, too: one after the other
 * and not one inside the other. */
static struct dropped *rights_queue;

static void release_files(struct dropped *d)
{
    struct file **files = (struct file **)(d + 1);

    for (uint32_t i = 0; i < d->count; i++)
        files_release(files[i]);
    heap_free(d, sizeof *d + d->count * sizeof *files);
}

static struct dropped *head_of(struct file **files)
{
    return (struct dropped *)files - 1;
}

void socket_rights_drop(struct socket_rights *rights)
{
    static bool dropping;
    struct dropped *d;

    cross_assert_held();
    if (!rights->count)
        return;
    in_flight -= rights->count;
    d = head_of(rights->files);
    d->count = rights->count;
    d->next = rights_queue;
    rights_queue = d;
    *rights = (struct socket_rights){.pid = rights->pid};
    if (dropping)
        return;
    dropping = true;
    while ((d = rights_queue) != NULL) {
        rights_queue = d->next;
        release_files(d);
    }
    dropping = false;
}

/* Makes the array for files, with room for what drops them. */
static int allocate_files(struct socket_rights *rights, uint32_t count)
{
    struct dropped *d;

    if (in_flight + count > SOCKET_RIGHTS_IN_FLIGHT)
        socket_collect();
    if (in_flight + count > SOCKET_RIGHTS_IN_FLIGHT)
        return -ETOOMANYREFS;
    d = heap_alloc(sizeof *d + count * sizeof(struct file *));
    if (d == NULL)
        return -ENOMEM;
    in_flight += count;
    rights->count = count;
    rights->files = (struct file **)(d + 1);
    return 0;
}

int socket_rights_take(struct socket_rights *to, struct socket_rights *from, bool looks)
{
    int error;

    if (!looks || !from->count) {
        *to = *from;
        *from = (struct socket_rights){.pid = from->pid};
        return 0;
    }
    *to = (struct socket_rights){.pid = from->pid};
    error = allocate_files(to, from->count);
    if (error)
        return error;
    for (uint32_t i = 0; i < from->count; i++) {
        to->files[i] = from->files[i];
        files_hold(to->files[i]);
    }
    return 0;
}

/* ---- reading */

static int read_files(const struct thread *thread, uint64_t user, uint64_t bytes,
                      struct socket_rights *rights)
{
    uint32_t count = (uint32_t)(bytes / sizeof(int32_t));
    int32_t fds[SOCKET_RIGHTS_MAX];
    int error;

    if (bytes / sizeof *fds > SOCKET_RIGHTS_MAX || (count && rights->count))
        return -EINVAL;
    if (copy_from_user(fds, user, count * sizeof *fds) != 0)
        return -EFAULT;
    for (uint32_t i = 0; i < count; i++) {
        const struct file *file = files_get(thread->process, fds[i]);

        if (file == NULL || file->flags & O_PATH)
            return -EBADF;
    }
    error = count ? allocate_files(rights, count) : 0;
    for (uint32_t i = 0; i < count && !error; i++) {
        rights->files[i] = files_get(thread->process, fds[i]);
        files_hold(rights->files[i]);
    }
    return error;
}

static int read_credentials(const struct thread *thread, uint64_t user, uint64_t bytes)
{
    struct credentials c;

    if (bytes != sizeof c)
        return -EINVAL;
    if (copy_from_user(&c, user, sizeof c) != 0)
        return -EFAULT;
    return c.pid == thread->process->pid && c.user == PROCESS_USER_ID && c.group == PROCESS_USER_ID
               ? 0
               : -EPERM;
}

static int read_one(const struct thread *thread, const struct cmsghdr *header, uint64_t data,
                    struct socket_rights *rights)
{
    uint64_t bytes = header->cmsg_len - sizeof *header;

    if (header->cmsg_level != SOL_SOCKET)
        return 0;
    switch (header->cmsg_type) {
    case SCM_RIGHTS:
        return read_files(thread, data, bytes, rights);
    case CREDENTIALS:
        return read_credentials(thread, data, bytes);
    default:
        return -EINVAL;
    }
}

int socket_rights_read(const struct thread *thread, const struct socket_control *control,
                       struct socket_rights *rights)
{
    struct cmsghdr header;
    uint64_t at = 0;
    int error = 0;

    while (!error && control->room >= at + sizeof header) {
        if (copy_from_user(&header, control->user + at, sizeof header) != 0)
            error = -EFAULT;
        else if (header.cmsg_len < sizeof header || header.cmsg_len > control->room - at)
            error = -EINVAL;
        else
            error = read_one(thread, &header, control->user + at + sizeof header, rights);
        at += CMSG_ALIGN(header.cmsg_len);
    }
    if (error)
        socket_rights_drop(rights);
    return error;
}

/* ---- writing */

/* Appends one control message, cut to the room.  Returns MSG_CTRUNC or 0. */
static uint32_t socket_control_put(struct socket_control *control, int level, int type,
                                   const void *data, uint32_t bytes)
{
    struct cmsghdr header = {
        .cmsg_len = sizeof header + bytes, .cmsg_level = level, .cmsg_type = type};
    uint64_t left = control->room - control->used, to = control->user + control->used;
    uint32_t flags = 0;

    if (left < sizeof header)
        return MSG_CTRUNC;
    if (left < header.cmsg_len) {
        flags = MSG_CTRUNC;
        header.cmsg_len = left;
    }
    if (copy_to_user(to, &header, sizeof header) != 0 ||
        copy_to_user(to + sizeof header, data, header.cmsg_len - sizeof header) != 0)
        return MSG_CTRUNC;
    control->used += CMSG_ALIGN(header.cmsg_len) < left ? CMSG_ALIGN(header.cmsg_len) : left;
    return flags;
}

/* Adds descriptors for as many files as there is room for.  Returns how many. */
static uint32_t add_descriptors(struct thread *thread, const struct socket_rights *rights,
                                uint64_t user, uint64_t room, bool close_on_exec)
{
    uint32_t i;

    for (i = 0; i < rights->count && (i + 1) * sizeof(int32_t) <= room; i++) {
        int32_t fd = (int32_t)files_add(thread->process, rights->files[i], 0, close_on_exec);

        if (fd < 0)
            break;
        if (copy_to_user(user + i * sizeof fd, &fd, sizeof fd) != 0) {
            files_close(thread->process, fd);
            break;
        }
    }
    return i;
}

static uint32_t write_files(struct thread *thread, struct socket_control *control,
                            const struct socket_rights *rights, bool close_on_exec)
{
    struct cmsghdr header = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    uint64_t left = control->room - control->used, to = control->user + control->used;
    uint64_t space;
    uint32_t count;

    if (left <= sizeof header)
        return MSG_CTRUNC;
    count =
        add_descriptors(thread, rights, to + sizeof header, left - sizeof header, close_on_exec);
    header.cmsg_len = sizeof header + count * sizeof(int32_t);
    space = CMSG_ALIGN(header.cmsg_len);
    if (count && copy_to_user(to, &header, sizeof header) == 0)
        control->used += space < left ? space : left;
    return count < rights->count ? MSG_CTRUNC : 0;
}

uint32_t socket_rights_write(struct thread *thread, struct socket_control *control,
                             struct socket_rights *rights, bool with_pid, bool close_on_exec)
{
    const struct credentials c = {rights->pid, PROCESS_USER_ID, PROCESS_USER_ID};
    uint32_t flags = 0;

    if (with_pid)
        flags |= socket_control_put(control, SOL_SOCKET, CREDENTIALS, &c, sizeof c);
    if (rights->count)
        flags |= write_files(thread, control, rights, close_on_exec);
    socket_rights_drop(rights);
    return flags;
}
