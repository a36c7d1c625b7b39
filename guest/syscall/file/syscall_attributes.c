/* System calls that change what describes a file: permissions, owner, times, extended attributes.
 */
#include <errno.h>
#include <linux/fcntl.h>
#include <linux/time_types.h>
#include <linux/utime.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/base/syscall_handlers.h"
#include "guest/file/files.h"
#include "guest/syscall/file/syscall_path.h"
#include "guest/vm/uaccess.h"

#define UTIME_NOW_NS ((1l << 30) - 1l)
#define UTIME_OMIT_NS ((1l << 30) - 2l)
#define NO_ID UINT32_MAX

/* Returns an error for files of /proc and /sys, which do not change. */
static int may_change(const struct inode *inode)
{
    return inode != NULL && inode->generate == NULL && inode->special == NULL ? 0 : -EPERM;
}

static int set_mode(struct inode *inode, uint64_t mode)
{
    int error = may_change(inode);

    if (error)
        return error;
    if (S_ISLNK(inode->mode))
        return -EOPNOTSUPP;
    inode->mode = (inode->mode & S_IFMT) | ((uint32_t)mode & 07777);
    inode->changed = true;
    inode->times.changed = inode_now();
    return 0;
}

/* The program's user owns every file and is in one group, so it cannot change an owner. */
static int set_owner(struct inode *inode, uint64_t user, uint64_t group)
{
    uint32_t u = (uint32_t)user, g = (uint32_t)group;
    int error = may_change(inode);

    if (error)
        return error;
    if ((u != NO_ID && u != PROCESS_USER_ID) || (g != NO_ID && g != PROCESS_USER_ID))
        return -EPERM;
    inode->times.changed = inode_now();
    return 0;
}

/* Returns the inode of a descriptor, or NULL and *error. */
static struct inode *inode_of(const struct thread *thread, uint64_t fd, int64_t *error)
{
    const struct file *file = files_get(thread->process, (int32_t)fd);

    *error = file == NULL || file->flags & O_PATH ? -EBADF : -EPERM;
    return *error == -EBADF ? NULL : file->inode;
}

static int64_t change_mode(struct thread *thread, int64_t directory, uint64_t path, uint64_t mode)
{
    struct fs_found found;
    int64_t error = syscall_walk(thread, directory, path, FS_FOLLOW, &found);

    if (error)
        return error;
    error = set_mode(syscall_inode_of(&found), mode);
    fs_found_release(&found);
    return error;
}

int64_t syscall_chmod(struct thread *thread, struct trap_frame *frame)
{
    return change_mode(thread, AT_FDCWD, frame->rdi, frame->rsi);
}

int64_t syscall_fchmodat(struct thread *thread, struct trap_frame *frame)
{
    return change_mode(thread, (int64_t)frame->rdi, frame->rsi, frame->rdx);
}

int64_t syscall_fchmod(struct thread *thread, struct trap_frame *frame)
{
    int64_t error;
    struct inode *inode = inode_of(thread, frame->rdi, &error);

    return inode != NULL ? set_mode(inode, frame->rsi) : error;
}

static int64_t change_owner(struct thread *thread, int64_t directory, uint64_t path, uint64_t user,
                            uint64_t group, uint32_t flags)
{
    struct fs_found found;
    int64_t error;

    if (flags & ~(uint32_t)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
        return -EINVAL;
    error = syscall_walk_at(thread, directory, path, flags, &found);
    if (error)
        return error;
    error = set_owner(syscall_inode_of(&found), user, group);
    fs_found_release(&found);
    return error;
}

int64_t syscall_chown(struct thread *thread, struct trap_frame *frame)
{
    return change_owner(thread, AT_FDCWD, frame->rdi, frame->rsi, frame->rdx, 0);
}

int64_t syscall_lchown(struct thread *thread, struct trap_frame *frame)
{
    return change_owner(thread, AT_FDCWD, frame->rdi, frame->rsi, frame->rdx, AT_SYMLINK_NOFOLLOW);
}

int64_t syscall_fchownat(struct thread *thread, struct trap_frame *frame)
{
    return change_owner(thread, (int64_t)frame->rdi, frame->rsi, frame->rdx, frame->r10,
                        (uint32_t)frame->r8);
}

int64_t syscall_fchown(struct thread *thread, struct trap_frame *frame)
{
    int64_t error;
    struct inode *inode = inode_of(thread, frame->rdi, &error);

    return inode != NULL ? set_owner(inode, frame->rsi, frame->rdx) : error;
}

/* ---- times */

struct new_times { /* accessed, modified */
    struct __kernel_timespec times[2];
};

static const struct new_times both_now = {{{0, UTIME_NOW_NS}, {0, UTIME_NOW_NS}}};

static int check_time(const struct __kernel_timespec *t)
{
    if (t->tv_nsec == UTIME_NOW_NS || t->tv_nsec == UTIME_OMIT_NS)
        return 0;
    return t->tv_nsec < 0 || (uint64_t)t->tv_nsec >= NS_PER_SECOND ? -EINVAL : 0;
}

static void set_time(uint64_t *ns, const struct __kernel_timespec *t)
{
    if (t->tv_nsec == UTIME_OMIT_NS)
        return;
    if (t->tv_nsec == UTIME_NOW_NS)
        *ns = inode_now();
    else if (t->tv_sec < 0)
        *ns = 0;
    else if (__builtin_mul_overflow((uint64_t)t->tv_sec, NS_PER_SECOND, ns) ||
             __builtin_add_overflow(*ns, (uint64_t)t->tv_nsec, ns))
        *ns = UINT64_MAX;
}

static int set_times(struct inode *inode, const struct new_times *new)
{
    int error = may_change(inode);

    if (error)
        return error;
    if (new->times[0].tv_nsec == UTIME_OMIT_NS &&new->times[1].tv_nsec == UTIME_OMIT_NS)
        return 0;
    set_time(&inode->times.accessed, &new->times[0]);
    set_time(&inode->times.modified, &new->times[1]);
    inode->times.changed = inode_now();
    inode->changed = true;
    return 0;
}

static int64_t change_times(struct thread *thread, int64_t directory, uint64_t path,
                            const struct new_times *new, uint32_t flags)
{
    struct fs_found found;
    int64_t error = check_time(&new->times[0]);

    if (!error)
        error = check_time(&new->times[1]);
    if (error)
        return error;
    if (flags & ~(uint32_t)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
        return -EINVAL;
    if (!path) { /* futimens */
        struct inode *inode = inode_of(thread, (uint64_t)directory, &error);

        return inode != NULL ? set_times(inode, new) : error;
    }
    error = syscall_walk_at(thread, directory, path, flags, &found);
    if (error)
        return error;
    error = set_times(syscall_inode_of(&found), new);
    fs_found_release(&found);
    return error;
}

int64_t syscall_utimensat(struct thread *thread, struct trap_frame *frame)
{
    struct new_times new = both_now;

    if (frame->rdx && copy_from_user(&new, frame->rdx, sizeof new) != 0)
        return -EFAULT;
    return change_times(thread, (int64_t)frame->rdi, frame->rsi, &new, (uint32_t)frame->r10);
}

/* struct timeval: microseconds. */
static int64_t change_times_us(struct thread *thread, int64_t directory, uint64_t path,
                               uint64_t user)
{
    struct new_times new = both_now;

    if (user) {
        if (copy_from_user(&new, user, sizeof new) != 0)
            return -EFAULT;
        for (int i = 0; i < 2; i++) {
            if (new.times[i].tv_nsec < 0 || new.times[i].tv_nsec >= 1000000)
                return -EINVAL;
            new.times[i].tv_nsec *= 1000;
        }
    }
    return change_times(thread, directory, path, &new, 0);
}

int64_t syscall_utimes(struct thread *thread, struct trap_frame *frame)
{
    return change_times_us(thread, AT_FDCWD, frame->rdi, frame->rsi);
}

int64_t syscall_futimesat(struct thread *thread, struct trap_frame *frame)
{
    return change_times_us(thread, (int64_t)frame->rdi, frame->rsi, frame->rdx);
}

int64_t syscall_utime(struct thread *thread, struct trap_frame *frame)
{
    struct new_times new = both_now;
    int64_t seconds[2];

    if (frame->rsi) {
        if (copy_from_user(seconds, frame->rsi, sizeof seconds) != 0)
            return -EFAULT;
        new = (struct new_times){{{seconds[0], 0}, {seconds[1], 0}}};
    }
    return change_times(thread, AT_FDCWD, frame->rdi, &new, 0);
}

/* ---- extended attributes: no file has any, none can have one */

/* Returns 0 if the file exists. */
static int64_t check_file(struct thread *thread, uint64_t path, uint32_t flags)
{
    struct fs_found found;
    int64_t error = syscall_walk(thread, AT_FDCWD, path, flags, &found);

    if (!error)
        fs_found_release(&found);
    return error;
}

/* Returns -EOPNOTSUPP if the file exists and its name and the attribute's can be read. */
static int64_t check_attribute(struct thread *thread, const struct trap_frame *frame,
                               uint32_t flags)
{
    char name[256];
    int64_t error = copy_string_from_user(name, frame->rsi, sizeof name);

    if (error < 0)
        return error == -EFAULT ? -EFAULT : -ERANGE;
    error = check_file(thread, frame->rdi, flags);
    return error ? error : -EOPNOTSUPP;
}

int64_t syscall_xattr(struct thread *thread, struct trap_frame *frame)
{
    return check_attribute(thread, frame, FS_FOLLOW);
}

int64_t syscall_lxattr(struct thread *thread, struct trap_frame *frame)
{
    return check_attribute(thread, frame, 0);
}

int64_t syscall_fxattr(struct thread *thread, struct trap_frame *frame)
{
    const struct file *file = files_get(thread->process, (int32_t)frame->rdi);

    return file == NULL || file->flags & O_PATH ? -EBADF : -EOPNOTSUPP;
}

int64_t syscall_listxattr(struct thread *thread, struct trap_frame *frame)
{
    return check_file(thread, frame->rdi, FS_FOLLOW);
}

int64_t syscall_llistxattr(struct thread *thread, struct trap_frame *frame)
{
    return check_file(thread, frame->rdi, 0);
}

int64_t syscall_flistxattr(struct thread *thread, struct trap_frame *frame)
{
    const struct file *file = files_get(thread->process, (int32_t)frame->rdi);

    return file == NULL || file->flags & O_PATH ? -EBADF : 0;
}
