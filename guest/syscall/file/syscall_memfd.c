/* memfd_create: a regular file that is in no directory. */
#include <errno.h>
#include <linux/fcntl.h>
#include <linux/memfd.h>
#include <sys/stat.h>

#include "guest/base/syscall_handlers.h"
#include "guest/file/files.h"
#include "guest/fs/fs.h"
#include "guest/vm/uaccess.h"

#define PREFIX "memfd:"
#define PREFIX_BYTES (sizeof PREFIX - 1)
#define NAME_BYTES_MAX (FS_NAME_MAX - PREFIX_BYTES)
#define LARGE_FILE 0100000u

/* Makes the file, with an entry that is not in its directory, so that /proc/self/fd can reopen it.
 */
static struct file *make_file(struct process *process, const char *name, uint32_t seals)
{
    struct inode *inode = inode_new(S_IFREG | 0777);
    struct fs_entry *entry = inode != NULL ? fs_entry_new(fs_root, name, inode) : NULL;
    struct file *file =
        entry != NULL ? files_new(process, &file_regular, O_RDWR | LARGE_FILE) : NULL;

    if (file == NULL) {
        fs_entry_release(entry);
        return NULL;
    }
    inode->seals = seals;
    inode->can_seal = true;
    inode_hold(inode);
    file->inode = inode;
    file->entry = entry;
    return file;
}

int64_t syscall_memfd_create(struct thread *thread, struct trap_frame *frame)
{
    uint32_t flags = (uint32_t)frame->rsi;
    char name[FS_NAME_MAX + 1] = PREFIX;
    struct file *file;
    int length;

    if (flags & ~(uint32_t)(MFD_CLOEXEC | MFD_ALLOW_SEALING))
        return -EINVAL;
    length = copy_string_from_user(name + PREFIX_BYTES, frame->rdi, NAME_BYTES_MAX + 1);
    if (length < 0)
        return length == -ENAMETOOLONG ? -EINVAL : length;
    file = make_file(thread->process, name, flags & MFD_ALLOW_SEALING ? 0 : F_SEAL_SEAL);
    if (file == NULL)
        return -ENOMEM;
    return files_add_new(thread->process, file, flags & MFD_CLOEXEC);
}
