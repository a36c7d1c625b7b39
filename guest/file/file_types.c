/* Kinds of files: contents in memory, directories, what O_PATH opens. */
#include <errno.h>
#include <linux/resource.h>
#include <signal.h>
#include <sys/stat.h>

#include "guest/base/syscall_handlers.h"
#include "guest/file/files.h"
#include "guest/fs/fs_kept.h"
#include "guest/signal/signal.h"
#include "guest/thread/limits.h"

int64_t file_size_limit(struct thread *thread, uint64_t offset, uint64_t *bytes)
{
    uint64_t limit = thread->process->limits[RLIMIT_FSIZE].soft;

    if (!*bytes || offset + *bytes <= limit)
        return 0;
    if (offset >= limit) {
        signal_send(thread, SIGXFSZ, SI_KERNEL);
        return -EFBIG;
    }
    *bytes = limit - offset;
    return 0;
}

static int64_t read_contents(struct thread *, struct file *file, uint64_t offset, uint64_t user,
                             uint64_t bytes)
{
    return inode_read_user(file->inode, offset, user, bytes);
}

static int64_t write_contents(struct thread *thread, struct file *file, uint64_t offset,
                              uint64_t user, uint64_t bytes)
{
    int64_t result = file_size_limit(thread, offset, &bytes);

    if (inode_sealed(file->inode, offset, bytes))
        return -EPERM;
    if (result < 0 || !bytes)
        return result;
    result = inode_write_user(file->inode, offset, user, bytes);
    return result == -ENOMEM ? -ENOSPC : result;
}

/* On close, sends what was written and the host does not have yet. */
static void close_contents(struct file *file)
{
    fs_kept_closed(file->inode);
}

static int64_t read_directory(struct thread *, struct file *, uint64_t /* offset */,
                              uint64_t /* user */, uint64_t /* bytes */)
{
    return -EISDIR;
}

const struct file_type file_regular = {.mode = S_IFREG | 0644,
                                       .seekable = true,
                                       .read = read_contents,
                                       .write = write_contents,
                                       .release = close_contents};
const struct file_type file_directory = {
    .mode = S_IFDIR | 0755, .seekable = true, .read = read_directory};
const struct file_type file_path = {.seekable = true};
