/* System calls that make, remove and rename files, and read symbolic links. */
#include <errno.h>
#include <linux/fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/base/syscall_handlers.h"
#include "guest/file/files.h"
#include "guest/memory/heap.h"
#include "guest/memory/phys.h"
#include "guest/syscall/file/syscall_path.h"
#include "guest/vm/uaccess.h"

static int64_t link_create(struct thread *thread, int64_t directory, uint64_t path,
                           struct inode *inode)
{
    struct fs_found found;
    int error;

    if (inode == NULL)
        return -ENOSPC;
    inode->changed = true;
    error = syscall_walk(thread, directory, path, FS_PARENT, &found);
    if (error) {
        inode_release(inode);
        return error;
    }
    error = fs_make(thread, &found, inode, NULL);
    fs_found_release(&found);
    return error;
}

static int64_t make_directory(struct thread *thread, int64_t directory, uint64_t path,
                              uint64_t mode)
{
    return link_create(thread, directory, path,
                       fs_new_directory((uint32_t)mode & 01777 & ~thread->process->place->umask));
}

int64_t syscall_mkdir(struct thread *thread, struct trap_frame *frame)
{
    return make_directory(thread, AT_FDCWD, frame->rdi, frame->rsi);
}

int64_t syscall_mkdirat(struct thread *thread, struct trap_frame *frame)
{
    return make_directory(thread, (int64_t)frame->rdi, frame->rsi, frame->rdx);
}

static int64_t make_node(struct thread *thread, int64_t directory, uint64_t path, uint64_t mode)
{
    uint32_t type = (uint32_t)mode & S_IFMT;
    struct inode *inode;

    if (S_ISDIR(type) || S_ISCHR(type) || S_ISBLK(type))
        return -EPERM;
    if (!type)
        type = S_IFREG;
    if (!S_ISREG(type) && !S_ISFIFO(type) && !S_ISSOCK(type))
        return -EINVAL;
    inode = inode_new(type | ((uint32_t)mode & 07777 & ~thread->process->place->umask));
    if (inode != NULL && S_ISFIFO(type))
        inode->type = &file_fifo;
    return link_create(thread, directory, path, inode);
}

int64_t syscall_mknod(struct thread *thread, struct trap_frame *frame)
{
    return make_node(thread, AT_FDCWD, frame->rdi, frame->rsi);
}

int64_t syscall_mknodat(struct thread *thread, struct trap_frame *frame)
{
    return make_node(thread, (int64_t)frame->rdi, frame->rsi, frame->rdx);
}

/* Makes a link's inode with its text; NULL: *error says why. */
static struct inode *new_link(uint64_t user, int *error)
{
    char *text = syscall_path_read(user, error);
    size_t bytes = text != NULL ? strlen(text) : 0;
    struct inode *inode = bytes ? inode_new(S_IFLNK | 0777) : NULL;
    char *target = inode != NULL ? heap_alloc(bytes + 1) : NULL;

    if (text != NULL && !*error)
        *error = bytes ? -ENOSPC : -ENOENT;
    if (target != NULL) {
        memcpy(target, text, bytes + 1);
        inode->target = target;
        inode->target_owned = true;
        inode->bytes = bytes;
    } else if (inode != NULL) {
        inode_release(inode);
        inode = NULL;
    }
    syscall_path_free(text);
    return inode;
}

static int64_t make_link(struct thread *thread, uint64_t text, int64_t directory, uint64_t path)
{
    int error;
    struct inode *inode = new_link(text, &error);

    return inode != NULL ? link_create(thread, directory, path, inode) : error;
}

int64_t syscall_symlink(struct thread *thread, struct trap_frame *frame)
{
    return make_link(thread, frame->rdi, AT_FDCWD, frame->rsi);
}

int64_t syscall_symlinkat(struct thread *thread, struct trap_frame *frame)
{
    return make_link(thread, frame->rdi, (int64_t)frame->rsi, frame->rdx);
}

static int64_t remove_path(struct thread *thread, int64_t directory, uint64_t path, bool is_rmdir)
{
    struct fs_found found;
    int error = syscall_walk(thread, directory, path, FS_PARENT, &found);

    if (error)
        return error;
    error = is_rmdir ? fs_rmdir(thread, &found) : fs_unlink(thread, &found);
    fs_found_release(&found);
    return error;
}

int64_t syscall_unlink(struct thread *thread, struct trap_frame *frame)
{
    return remove_path(thread, AT_FDCWD, frame->rdi, false);
}

int64_t syscall_rmdir(struct thread *thread, struct trap_frame *frame)
{
    return remove_path(thread, AT_FDCWD, frame->rdi, true);
}

int64_t syscall_unlinkat(struct thread *thread, struct trap_frame *frame)
{
    uint32_t flags = (uint32_t)frame->rdx;

    if (flags & ~(uint32_t)AT_REMOVEDIR)
        return -EINVAL;
    return remove_path(thread, (int64_t)frame->rdi, frame->rsi, flags & AT_REMOVEDIR);
}

static int64_t give_name(struct thread *thread, const struct fs_found *old, int64_t directory,
                         uint64_t path)
{
    struct inode *inode = syscall_inode_of(old);
    struct fs_found found;
    int error = syscall_walk(thread, directory, path, FS_PARENT, &found);

    if (error)
        return error;
    if (inode == NULL || (old->entry != NULL && old->entry->special) || inode->generate != NULL ||
        inode->can_seal)
        error = -EXDEV;
    else
        error = fs_link(thread, inode, &found);
    fs_found_release(&found);
    return error;
}

static int64_t link_paths(struct thread *thread, int64_t from, uint64_t old_path, int64_t to,
                          uint64_t new_path, uint32_t flags)
{
    uint32_t at = flags & AT_SYMLINK_FOLLOW ? 0 : AT_SYMLINK_NOFOLLOW;
    struct fs_found found;
    int64_t error;

    if (flags & ~(uint32_t)(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
        return -EINVAL;
    error = syscall_walk_at(thread, from, old_path, at | (flags & AT_EMPTY_PATH), &found);
    if (error)
        return error;
    error = give_name(thread, &found, to, new_path);
    fs_found_release(&found);
    return error;
}

int64_t syscall_link(struct thread *thread, struct trap_frame *frame)
{
    return link_paths(thread, AT_FDCWD, frame->rdi, AT_FDCWD, frame->rsi, 0);
}

int64_t syscall_linkat(struct thread *thread, struct trap_frame *frame)
{
    return link_paths(thread, (int64_t)frame->rdi, frame->rsi, (int64_t)frame->rdx, frame->r10,
                      (uint32_t)frame->r8);
}

static int64_t rename_paths(struct thread *thread, int64_t from, uint64_t old_path, int64_t to,
                            uint64_t new_path, uint32_t flags)
{
    struct fs_found old, new;
    int error = fs_check_rename(flags);

    if (!error)
        error = syscall_walk(thread, from, old_path, FS_PARENT, &old);
    if (error)
        return error;
    error = syscall_walk(thread, to, new_path, FS_PARENT, &new);
    if (!error) {
        error = fs_rename(thread, &old, &new, flags);
        fs_found_release(&new);
    }
    fs_found_release(&old);
    return error;
}

int64_t syscall_rename(struct thread *thread, struct trap_frame *frame)
{
    return rename_paths(thread, AT_FDCWD, frame->rdi, AT_FDCWD, frame->rsi, 0);
}

int64_t syscall_renameat(struct thread *thread, struct trap_frame *frame)
{
    return rename_paths(thread, (int64_t)frame->rdi, frame->rsi, (int64_t)frame->rdx, frame->r10,
                        0);
}

int64_t syscall_renameat2(struct thread *thread, struct trap_frame *frame)
{
    return rename_paths(thread, (int64_t)frame->rdi, frame->rsi, (int64_t)frame->rdx, frame->r10,
                        (uint32_t)frame->r8);
}

static int64_t put_text(struct thread *thread, const struct inode *inode, uint64_t user,
                        uint64_t room)
{
    uint64_t block;
    int64_t bytes;

    if (inode->special == NULL) {
        bytes = (int64_t)(inode->bytes < room ? inode->bytes : room);
        return copy_to_user(user, inode->target, (uint64_t)bytes) ? -EFAULT : bytes;
    }
    block = phys_alloc(0);
    if (!block)
        return -ENOMEM;
    bytes = inode->special->text(thread, inode, phys_pointer(block), PAGE_BYTES);
    if (bytes > (int64_t)room)
        bytes = (int64_t)room;
    if (bytes >= 0 && copy_to_user(user, phys_pointer(block), (uint64_t)bytes) != 0)
        bytes = -EFAULT;
    phys_free(block, 0);
    return bytes;
}

static int64_t read_link(struct thread *thread, int64_t directory, uint64_t path, uint64_t to,
                         uint64_t room)
{
    struct fs_found found;
    int64_t result;

    if ((int32_t)room <= 0)
        return -EINVAL;
    result = syscall_walk_at(thread, directory, path, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH, &found);
    if (result)
        return result;
    if (found.entry != NULL && S_ISLNK(found.entry->inode->mode))
        result = put_text(thread, found.entry->inode, to, (uint32_t)room);
    else
        result = found.parent != NULL || found.last != FS_LAST_NAME ? -EINVAL
                                                                    : -ENOENT; /* the path is "" */
    fs_found_release(&found);
    return result;
}

int64_t syscall_readlink(struct thread *thread, struct trap_frame *frame)
{
    return read_link(thread, AT_FDCWD, frame->rdi, frame->rsi, frame->rdx);
}

int64_t syscall_readlinkat(struct thread *thread, struct trap_frame *frame)
{
    return read_link(thread, (int64_t)frame->rdi, frame->rsi, frame->rdx, frame->r10);
}
