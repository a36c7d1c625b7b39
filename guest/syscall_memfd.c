/* memfd_create: a regular file that never has a name. */
#include <errno.h>
#include <linux/fcntl.h>
#include <linux/memfd.h>
#include <sys/stat.h>

#include "guest/files.h"
#include "guest/syscall_handlers.h"
#include "guest/uaccess.h"

#define NAME_BYTES_MAX 249u
#define LARGE_FILE 0100000u

bool inode_sealed(const struct inode *inode, uint64_t offset, uint64_t bytes)
{
    return inode->seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE) ||
           (inode->seals & F_SEAL_GROW && offset + bytes > inode->bytes);
}

int64_t syscall_memfd_create(struct thread *thread, struct trap_frame *frame)
{
    uint32_t flags = (uint32_t)frame->rsi;
    char name[NAME_BYTES_MAX + 1];
    struct inode *inode;
    struct file *file;
    int64_t fd;
    int length;

    if (flags & ~(uint32_t)(MFD_CLOEXEC | MFD_ALLOW_SEALING))
        return -EINVAL;
    length = copy_string_from_user(name, frame->rdi, sizeof name);
    if (length < 0)
        return length == -ENAMETOOLONG ? -EINVAL : length;
    inode = inode_new(S_IFREG | 0777);
    if (!inode)
        return -ENOMEM;
    inode->seals = flags & MFD_ALLOW_SEALING ? 0 : F_SEAL_SEAL;
    inode->can_seal = true;
    file = files_new(thread->process, &file_regular, O_RDWR | LARGE_FILE);
    if (!file) {
        inode_release(inode);
        return -ENFILE;
    }
    file->inode = inode;
    fd = files_add(thread->process, file, 0, flags & MFD_CLOEXEC);
    if (fd < 0)
        files_discard(file);
    return fd;
}
