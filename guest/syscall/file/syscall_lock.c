/* System calls for advisory locks. */
#include <errno.h>
#include <linux/fcntl.h>
#include <linux/fs.h>

#include "guest/base/syscall_handlers.h"
#include "guest/file/locks.h"
#include "guest/syscall/file/syscall_lock.h"
#include "guest/vm/uaccess.h"

static int set_held(struct thread *thread, struct file *file, const struct lock_range *range,
                    bool waits)
{
    int result;

    files_hold(file);
    result = locks_set(thread, file, range, waits);
    if (file->references == 1) /* the file was closed during the wait and is not closed again */
        locks_closed(thread->process, file);
    files_release(file);
    return result;
}

int64_t syscall_flock(struct thread *thread, struct trap_frame *frame)
{
    struct file *file = files_get(thread->process, (int32_t)frame->rdi);
    struct lock_range range = {.kind = LOCK_FLOCK, .last = UINT64_MAX};

    switch ((uint32_t)frame->rsi & ~(uint32_t)LOCK_NB) {
    case LOCK_SH:
        range.mode = LOCK_SHARED;
        break;
    case LOCK_EX:
        range.mode = LOCK_EXCLUSIVE;
        break;
    case LOCK_UN:
        range.mode = LOCK_NONE;
        break;
    default:
        return -EINVAL;
    }
    if (file == NULL || (file->flags & O_PATH))
        return -EBADF;
    return set_held(thread, file, &range, !(frame->rsi & LOCK_NB));
}

/* Finds the bytes that the program means.  Returns 0, -EINVAL or -EOVERFLOW. */
static int read_range(const struct file *file, const struct flock *lock, struct lock_range *range)
{
    int64_t base = 0, start, last;

    if (lock->l_whence == SEEK_CUR)
        base = (int64_t)file->offset;
    else if (lock->l_whence == SEEK_END)
        base = (int64_t)files_size(file);
    else if (lock->l_whence != SEEK_SET)
        return -EINVAL;
    if (__builtin_add_overflow(base, lock->l_start, &start))
        return -EOVERFLOW;
    if (start < 0)
        return -EINVAL;
    range->first = (uint64_t)start;
    range->last = INT64_MAX;
    if (lock->l_len > 0) {
        if (__builtin_add_overflow(start, lock->l_len - 1, &last))
            return -EOVERFLOW;
        range->last = (uint64_t)last;
    } else if (lock->l_len < 0) {
        if (start + lock->l_len < 0 || !start)
            return -EINVAL;
        range->last = (uint64_t)start - 1;
        range->first = (uint64_t)(start + lock->l_len);
    }
    return 0;
}

static int read_mode(int type, enum lock_mode *mode)
{
    switch (type) {
    case F_RDLCK:
        *mode = LOCK_SHARED;
        return 0;
    case F_WRLCK:
        *mode = LOCK_EXCLUSIVE;
        return 0;
    case F_UNLCK:
        *mode = LOCK_NONE;
        return 0;
    default:
        return -EINVAL;
    }
}

static int64_t put_found(uint64_t user, struct flock *lock, const struct lock_range *found,
                         uint32_t pid)
{
    lock->l_type = found->mode == LOCK_NONE     ? F_UNLCK
                   : found->mode == LOCK_SHARED ? F_RDLCK
                                                : F_WRLCK;
    if (found->mode != LOCK_NONE) {
        lock->l_whence = SEEK_SET;
        lock->l_start = (int64_t)found->first;
        lock->l_len = found->last == INT64_MAX ? 0 : (int64_t)(found->last - found->first + 1);
        lock->l_pid = found->kind == LOCK_OPEN_FILE ? -1 : (int32_t)pid;
    }
    return copy_to_user(user, lock, sizeof *lock);
}

int64_t syscall_lock_control(struct thread *thread, struct file *file, uint32_t command,
                             uint64_t user)
{
    bool own = command == F_OFD_GETLK || command == F_OFD_SETLK || command == F_OFD_SETLKW;
    bool tests = command == F_GETLK || command == F_OFD_GETLK;
    struct lock_range range = {.kind = own ? LOCK_OPEN_FILE : LOCK_PROCESS}, found;
    uint32_t access = file->flags & O_ACCMODE;
    struct flock lock;
    int error;

    if (copy_from_user(&lock, user, sizeof lock) != 0)
        return -EFAULT;
    if (own && lock.l_pid)
        return -EINVAL;
    error = read_mode(lock.l_type, &range.mode);
    if (!error && tests && range.mode == LOCK_NONE && !own)
        error = -EINVAL;
    if (!error)
        error = read_range(file, &lock, &range);
    if (error)
        return error;
    if (tests) {
        uint32_t pid = locks_test(thread->process, file, &range, &found);

        return put_found(user, &lock, &found, pid);
    }
    if ((range.mode == LOCK_SHARED && access == O_WRONLY) ||
        (range.mode == LOCK_EXCLUSIVE && access == O_RDONLY))
        return -EBADF;
    return set_held(thread, file, &range, command == F_SETLKW || command == F_OFD_SETLKW);
}
