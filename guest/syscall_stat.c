/* System calls that describe files. */
#include <errno.h>
#include <linux/fcntl.h>
#include <linux/magic.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "guest/files.h"
#include "guest/syscall_handlers.h"
#include "guest/uaccess.h"

#define BLOCK_BYTES 4096u
#define NAME_BYTES_MAX 255u

struct attributes {
    uint64_t inode;
    uint32_t mode;
    uint32_t device; /* major << 8 | minor */
    uint64_t bytes;
};

static struct attributes of_node(const struct fs_node *node)
{
    return (struct attributes){
        .inode = node->inode, .mode = node->mode, .bytes = S_ISDIR(node->mode) ? 0 : node->bytes};
}

static struct attributes of_file(const struct file *file)
{
    if (file->node)
        return of_node(file->node);
    return (struct attributes){.inode = (1ull << 32) + (uint64_t)(file->stream + 1),
                               .mode = file->type->mode,
                               .device = file->type->device};
}

/* Files outside the archive are opened for the look. */
static int of_path(struct thread *thread, const struct syscall_path *p, bool follow,
                   struct attributes *a)
{
    const struct fs_node *node;
    struct file *file;
    int result = file_special_open(thread, p->path, O_RDONLY, &file);

    if (result < 0)
        return result;
    if (result == 1) {
        *a = of_file(file);
        files_discard(file);
        return 0;
    }
    if (strcmp(p->path, "/proc/self/exe") == 0) {
        const char *name = manifest_text(&thread->process->manifest, "program", "");

        result = fs_find("/", name, &node);
    } else {
        result = fs_find_link(p->base, p->path, follow, &node);
    }
    if (!result)
        *a = of_node(node);
    return result;
}

static int of_argument(struct thread *thread, int64_t directory, uint64_t user, uint32_t flags,
                       struct attributes *a)
{
    const struct file *file;
    struct syscall_path *p;
    int result;

    if (flags &
        ~(uint32_t)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_NO_AUTOMOUNT | AT_STATX_SYNC_TYPE))
        return -EINVAL;
    result = syscall_path_read(thread, directory, user, &p);
    if (result < 0)
        return result;
    if (p->path[0] || !(flags & AT_EMPTY_PATH)) {
        result = of_path(thread, p, !(flags & AT_SYMLINK_NOFOLLOW), a);
    } else if ((int32_t)directory == AT_FDCWD) {
        memcpy(p->path, ".", 2);
        result = of_path(thread, p, true, a);
    } else {
        file = files_get(thread->process, (int32_t)directory);
        result = file ? 0 : -EBADF;
        if (file)
            *a = of_file(file);
    }
    syscall_path_free(p);
    return result;
}

static int put_stat(uint64_t user, const struct attributes *a)
{
    struct stat s;

    memset(&s, 0, sizeof s);
    s.st_dev = 1;
    s.st_ino = a->inode;
    s.st_mode = a->mode;
    s.st_nlink = S_ISDIR(a->mode) ? 2 : 1;
    s.st_uid = PROCESS_USER_ID;
    s.st_gid = PROCESS_USER_ID;
    s.st_rdev = a->device;
    s.st_size = (int64_t)a->bytes;
    s.st_blksize = BLOCK_BYTES;
    s.st_blocks = (int64_t)((a->bytes + 511) / 512);
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

    if (!file)
        return -EBADF;
    a = of_file(file);
    return put_stat(frame->rsi, &a);
}

int64_t syscall_statx(struct thread *thread, struct trap_frame *frame)
{
    struct attributes a;
    struct statx s;
    int error = of_argument(thread, (int64_t)frame->rdi, frame->rsi, (uint32_t)frame->rdx, &a);

    if (error)
        return error;
    memset(&s, 0, sizeof s);
    s.stx_mask = STATX_BASIC_STATS;
    s.stx_blksize = BLOCK_BYTES;
    s.stx_nlink = S_ISDIR(a.mode) ? 2 : 1;
    s.stx_uid = PROCESS_USER_ID;
    s.stx_gid = PROCESS_USER_ID;
    s.stx_mode = (uint16_t)a.mode;
    s.stx_ino = a.inode;
    s.stx_size = a.bytes;
    s.stx_blocks = (a.bytes + 511) / 512;
    s.stx_rdev_major = a.device >> 8;
    s.stx_rdev_minor = a.device & 255;
    s.stx_dev_minor = 1;
    return copy_to_user(frame->r8, &s, sizeof s);
}

static int put_file_system(uint64_t user)
{
    struct statfs s;

    memset(&s, 0, sizeof s);
    s.f_type = RAMFS_MAGIC;
    s.f_bsize = BLOCK_BYTES;
    s.f_namelen = NAME_BYTES_MAX;
    s.f_frsize = BLOCK_BYTES;
    s.f_flags = 1; /* read-only */
    return copy_to_user(user, &s, sizeof s);
}

int64_t syscall_statfs(struct thread *thread, struct trap_frame *frame)
{
    struct attributes a;
    int error = of_argument(thread, AT_FDCWD, frame->rdi, 0, &a);

    return error ? error : put_file_system(frame->rsi);
}

int64_t syscall_fstatfs(struct thread *thread, struct trap_frame *frame)
{
    if (!files_get(thread->process, (int32_t)frame->rdi))
        return -EBADF;
    return put_file_system(frame->rsi);
}

static int64_t check_access(struct thread *thread, int64_t directory, uint64_t path, uint32_t mode,
                            uint32_t flags)
{
    struct attributes a;
    int error;

    if (mode & ~(uint32_t)(R_OK | W_OK | X_OK))
        return -EINVAL;
    error = of_argument(thread, directory, path, flags & ~(uint32_t)AT_EACCESS, &a);
    if (error)
        return error;
    if ((mode & W_OK) && (S_ISREG(a.mode) || S_ISDIR(a.mode)))
        return -EROFS;
    return (mode & X_OK) && S_ISREG(a.mode) && !(a.mode & 0111) ? -EACCES : 0;
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
