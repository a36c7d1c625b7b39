/* System calls that describe files. */
#include <errno.h>
#include <linux/fcntl.h>
#include <linux/magic.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "guest/base/syscall_handlers.h"
#include "guest/file/files.h"
#include "guest/memory/phys.h"
#include "guest/syscall/file/syscall_path.h"
#include "guest/vm/uaccess.h"

#define BLOCK_BYTES 4096u

struct attributes {
    uint64_t number;
    uint32_t mode;
    uint32_t device; /* major << 8 | minor */
    uint32_t links;
    uint64_t bytes;
    uint64_t blocks;
    struct inode_times times;
};

static struct attributes of_inode(const struct inode *inode)
{
    return (struct attributes){.number = inode->number,
                               .mode = inode->mode,
                               .device = inode->device,
                               .links = inode->links,
                               .bytes = inode->bytes,
                               .blocks = inode_blocks(inode),
                               .times = inode->times};
}

static struct attributes of_file(const struct file *file)
{
    if (file->inode != NULL)
        return of_inode(file->inode);
    return (struct attributes){.number = FILES_NUMBERS + file->number,
                               .mode = file->type->mode,
                               .device = file->type->device,
                               .links = 1};
}

static int of_argument(struct thread *thread, int64_t directory, uint64_t user, uint32_t flags,
                       struct attributes *a)
{
    struct fs_found found;
    int error;

    if (flags &
        ~(uint32_t)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_NO_AUTOMOUNT | AT_STATX_SYNC_TYPE))
        return -EINVAL;
    error = syscall_walk_at(thread, directory, user, flags, &found);
    if (error)
        return error;
    *a = found.entry != NULL ? of_inode(found.entry->inode) : of_file(found.file);
    fs_found_release(&found);
    return 0;
}

static struct timespec seconds_of(uint64_t ns)
{
    return (struct timespec){(int64_t)(ns / NS_PER_SECOND), (int64_t)(ns % NS_PER_SECOND)};
}

static int put_stat(uint64_t user, const struct attributes *a)
{
    struct stat s;

    memset(&s, 0, sizeof s);
    s.st_dev = 1;
    s.st_ino = a->number;
    s.st_mode = a->mode;
    s.st_nlink = a->links;
    s.st_uid = PROCESS_USER_ID;
    s.st_gid = PROCESS_USER_ID;
    s.st_rdev = a->device;
    s.st_size = (int64_t)a->bytes;
    s.st_blksize = BLOCK_BYTES;
    s.st_blocks = (int64_t)a->blocks;
    s.st_atim = seconds_of(a->times.accessed);
    s.st_mtim = seconds_of(a->times.modified);
    s.st_ctim = seconds_of(a->times.changed);
    return copy_to_user(user, &s, sizeof s);
}

static int64_t stat_path(struct thread *thread, int64_t directory, uint64_t path, uint64_t to,
                         uint32_t flags)
{
    struct attributes a;
    int error = of_argument(thread, directory, path, flags, &a);

    return error ? error : put_stat(to, &a);
}

int64_t syscall_stat(struct thread *thread, struct trap_frame *frame)
{
    return stat_path(thread, AT_FDCWD, frame->rdi, frame->rsi, 0);
}

int64_t syscall_lstat(struct thread *thread, struct trap_frame *frame)
{
    return stat_path(thread, AT_FDCWD, frame->rdi, frame->rsi, AT_SYMLINK_NOFOLLOW);
}

int64_t syscall_newfstatat(struct thread *thread, struct trap_frame *frame)
{
    return stat_path(thread, (int64_t)frame->rdi, frame->rsi, frame->rdx, (uint32_t)frame->r10);
}

int64_t syscall_fstat(struct thread *thread, struct trap_frame *frame)
{
    const struct file *file = files_get(thread->process, (int32_t)frame->rdi);
    struct attributes a;

    if (file == NULL)
        return -EBADF;
    a = of_file(file);
    return put_stat(frame->rsi, &a);
}

static struct statx_timestamp timestamp_of(uint64_t ns)
{
    return (struct statx_timestamp){.tv_sec = (int64_t)(ns / NS_PER_SECOND),
                                    .tv_nsec = (uint32_t)(ns % NS_PER_SECOND)};
}

int64_t syscall_statx(struct thread *thread, struct trap_frame *frame)
{
    struct attributes a;
    struct statx s;
    int error;

    if ((uint32_t)frame->r10 & STATX__RESERVED ||
        (frame->rdx & AT_STATX_SYNC_TYPE) == AT_STATX_SYNC_TYPE)
        return -EINVAL;
    error = of_argument(thread, (int64_t)frame->rdi, frame->rsi, (uint32_t)frame->rdx, &a);
    if (error)
        return error;
    memset(&s, 0, sizeof s);
    s.stx_mask = STATX_BASIC_STATS | STATX_BTIME;
    s.stx_blksize = BLOCK_BYTES;
    s.stx_nlink = a.links;
    s.stx_uid = PROCESS_USER_ID;
    s.stx_gid = PROCESS_USER_ID;
    s.stx_mode = (uint16_t)a.mode;
    s.stx_ino = a.number;
    s.stx_size = a.bytes;
    s.stx_blocks = a.blocks;
    s.stx_atime = timestamp_of(a.times.accessed);
    s.stx_mtime = timestamp_of(a.times.modified);
    s.stx_ctime = timestamp_of(a.times.changed);
    s.stx_btime = timestamp_of(a.times.created);
    s.stx_rdev_major = a.device >> 8;
    s.stx_rdev_minor = a.device & 255;
    s.stx_dev_minor = 1;
    return copy_to_user(frame->r8, &s, sizeof s);
}

static int put_file_system(uint64_t user, const struct inode *inode)
{
    struct statfs s;

    memset(&s, 0, sizeof s);
    s.f_type = inode != NULL && (inode->generate != NULL || inode->special != NULL)
                   ? PROC_SUPER_MAGIC
                   : TMPFS_MAGIC;
    s.f_bsize = BLOCK_BYTES;
    s.f_blocks = phys_total_bytes() / BLOCK_BYTES;
    s.f_bfree = phys_free_bytes() / BLOCK_BYTES;
    s.f_bavail = s.f_bfree;
    s.f_files = s.f_blocks;
    s.f_ffree = s.f_bfree;
    s.f_namelen = FS_NAME_MAX;
    s.f_frsize = BLOCK_BYTES;
    return copy_to_user(user, &s, sizeof s);
}

int64_t syscall_statfs(struct thread *thread, struct trap_frame *frame)
{
    struct fs_found found;
    int error = syscall_walk(thread, AT_FDCWD, frame->rdi, FS_FOLLOW, &found);

    if (error)
        return error;
    error = put_file_system(frame->rsi, syscall_inode_of(&found));
    fs_found_release(&found);
    return error;
}

int64_t syscall_fstatfs(struct thread *thread, struct trap_frame *frame)
{
    const struct file *file = files_get(thread->process, (int32_t)frame->rdi);

    return file != NULL ? put_file_system(frame->rsi, file->inode) : -EBADF;
}

static int64_t check_access(struct thread *thread, int64_t directory, uint64_t path, uint32_t mode,
                            uint32_t flags)
{
    struct fs_found found;
    int error;

    if (mode & ~(uint32_t)(R_OK | W_OK | X_OK) ||
        flags & ~(uint32_t)(AT_EACCESS | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
        return -EINVAL;
    error = syscall_walk_at(thread, directory, path, flags, &found);
    if (error)
        return error;
    if (found.entry != NULL)
        error = fs_permission(found.entry->inode, mode);
    else if (mode & ~(found.file->type->mode >> 6 & 7))
        error = -EACCES;
    fs_found_release(&found);
    return error;
}

int64_t syscall_access(struct thread *thread, struct trap_frame *frame)
{
    return check_access(thread, AT_FDCWD, frame->rdi, (uint32_t)frame->rsi, 0);
}

int64_t syscall_faccessat(struct thread *thread, struct trap_frame *frame)
{
    return check_access(thread, (int64_t)frame->rdi, frame->rsi, (uint32_t)frame->rdx, 0);
}

int64_t syscall_faccessat2(struct thread *thread, struct trap_frame *frame)
{
    return check_access(thread, (int64_t)frame->rdi, frame->rsi, (uint32_t)frame->rdx,
                        (uint32_t)frame->r10);
}
