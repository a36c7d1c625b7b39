/* Kinds of files: archive contents and directories. */
#include <errno.h>
#include <sys/stat.h>

#include "guest/files.h"
#include "guest/uaccess.h"

static int64_t read_contents(struct thread *thread, struct file *file, uint64_t offset,
                             uint64_t user, uint64_t bytes)
{
    int error;

    (void)thread;
    if (offset >= file->bytes)
        return 0;
    if (bytes > file->bytes - offset)
        bytes = file->bytes - offset;
    error = copy_to_user(user, file->data + offset, bytes);
    return error ? error : (int64_t)bytes;
}

static int64_t read_directory(struct thread *thread, struct file *file, uint64_t offset,
                              uint64_t user, uint64_t bytes)
{
    (void)thread;
    (void)file;
    (void)offset;
    (void)user;
    (void)bytes;
    return -EISDIR;
}

const struct file_type file_regular = {
    .mode = S_IFREG | 0444, .seekable = true, .read = read_contents};
const struct file_type file_directory = {
    .mode = S_IFDIR | 0755, .seekable = true, .read = read_directory};
