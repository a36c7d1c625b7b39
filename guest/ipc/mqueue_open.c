/* mq_open, mq_unlink, mq_getsetattr. */
#include <errno.h>
#include <linux/fcntl.h>
#include <linux/mqueue.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guest/base/syscall_handlers.h"
#include "guest/fs/fs.h"
#include "guest/ipc/mqueue.h"
#include "guest/ipc/mqueue_use.h"
#include "guest/vm/uaccess.h"

#define PREFIX MQUEUE_DIRECTORY "/"
#define PREFIX_BYTES (sizeof PREFIX - 1)
#define KEPT_FLAGS (O_ACCMODE | O_NONBLOCK | FASYNC | O_LARGEFILE | O_APPEND)

/* Finds the name at `user` in the directory of queues. */
static int find_name(struct thread *thread, uint64_t user, struct fs_found *found)
{
    char path[PREFIX_BYTES + FS_NAME_MAX + 1] = PREFIX;
    char *name = path + PREFIX_BYTES;
    int length = copy_string_from_user(name, user, FS_NAME_MAX + 1);

    if (length < 0)
        return length;
    if (!length)
        return -ENOENT;
    if (strchr(name, '/') != NULL || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return -EACCES;
    return fs_walk(thread, fs_root, path, FS_MAY_LACK, found);
}

static int check_attributes(const struct mq_attr *a)
{
    if (a->mq_maxmsg <= 0 || a->mq_msgsize <= 0 || a->mq_maxmsg > MQUEUE_MESSAGES_MAX ||
        a->mq_msgsize > MQUEUE_BYTES_MAX)
        return -EINVAL;
    return 0;
}

static int make_queue(struct thread *thread, struct fs_found *found, uint32_t mode,
                      const struct mq_attr *a)
{
    struct inode *inode;
    int error = fs_permission(found->parent->inode, W_OK | X_OK);

    if (!error)
        error = check_attributes(a);
    if (error)
        return error;
    inode = inode_new(S_IFREG | (mode & 07777 & ~thread->process->place->umask));
    if (inode == NULL)
        return -ENOMEM;
    error = mqueue_make(inode, (uint64_t)a->mq_maxmsg, (uint64_t)a->mq_msgsize);
    if (!error)
        return fs_make(thread, found, inode, &found->entry);
    inode_release(inode);
    return error;
}

static int check_existing(const struct inode *inode, uint32_t flags)
{
    static const uint32_t wanted[] = {R_OK, W_OK, R_OK | W_OK};

    if (flags & O_CREAT && flags & O_EXCL)
        return -EEXIST;
    if ((flags & O_ACCMODE) == O_ACCMODE)
        return -EINVAL;
    return fs_permission(inode, wanted[flags & O_ACCMODE]);
}

static int64_t open_queue(struct thread *thread, struct fs_entry *entry, uint32_t flags)
{
    struct file *file = files_new(thread->process, &mqueue_file, flags & KEPT_FLAGS);

    if (file == NULL)
        return -ENFILE;
    fs_entry_hold(entry);
    inode_hold(entry->inode);
    file->entry = entry;
    file->inode = entry->inode;
    mqueue_file.open(thread, file);
    return files_add_new(thread->process, file, true);
}

int64_t syscall_mq_open(struct thread *thread, struct trap_frame *frame)
{
    struct mq_attr attributes = {.mq_maxmsg = MQUEUE_MESSAGES_MAX, .mq_msgsize = MQUEUE_BYTES_MAX};
    uint32_t flags = (uint32_t)frame->rsi;
    struct fs_found found;
    int64_t result;

    if (frame->r10 && copy_from_user(&attributes, frame->r10, sizeof attributes) != 0)
        return -EFAULT;
    result = find_name(thread, frame->rdi, &found);
    if (result)
        return result;
    if (!files_room(thread->process))
        result = -EMFILE;
    else if (found.entry != NULL)
        result = check_existing(found.entry->inode, flags);
    else if (flags & O_CREAT)
        result = make_queue(thread, &found, (uint32_t)frame->rdx, &attributes);
    else
        result = -ENOENT;
    if (!result)
        result = open_queue(thread, found.entry, flags);
    fs_found_release(&found);
    return result;
}

int64_t syscall_mq_unlink(struct thread *thread, struct trap_frame *frame)
{
    struct fs_found found;
    int64_t result = find_name(thread, frame->rdi, &found);

    if (result)
        return result;
    result = fs_unlink(thread, &found);
    fs_found_release(&found);
    return result;
}

int64_t syscall_mq_getsetattr(struct thread *thread, struct trap_frame *frame)
{
    struct file *file = mqueue_use(thread, frame->rdi, 0);
    struct mq_attr new, old = {0};

    if (frame->rsi) {
        if (copy_from_user(&new, frame->rsi, sizeof new) != 0)
            return -EFAULT;
        if (new.mq_flags & ~(long)O_NONBLOCK)
            return -EINVAL;
    }
    if (file == NULL)
        return -EBADF;
    if (frame->rdx) {
        const struct mqueue *queue = file->state;

        old.mq_flags = file->flags & O_NONBLOCK;
        old.mq_maxmsg = (long)queue->messages_max;
        old.mq_msgsize = (long)queue->bytes_max;
        old.mq_curmsgs = (long)queue->count;
    }
    if (frame->rsi)
        file->flags = (file->flags & ~(uint32_t)O_NONBLOCK) | ((uint32_t) new.mq_flags &O_NONBLOCK);
    return frame->rdx && copy_to_user(frame->rdx, &old, sizeof old) ? -EFAULT : 0;
}
