/* System calls between processes: copies of another one's memory, and kcmp.  There is one user, so
 * every process may look into every other. */
#include <errno.h>
#include <linux/kcmp.h>
#include <sys/uio.h>

#include "guest/base/syscall_handlers.h"
#include "guest/file/files.h"
#include "guest/thread/threads.h"
#include "guest/vm/uaccess.h"
#include "guest/vm/vm_access.h"

#define VECTORS_MAX 1024u /* UIO_MAXIOV */
#define PAGE_REST(at) (PAGE_BYTES - (at) % PAGE_BYTES)

/* Addresses that a call names by an array of struct iovec. */
struct vectors {
    uint64_t user; /* where the next one is */
    uint64_t count; /* that are left */
    uint64_t at, part; /* what is left of this one */
    uint64_t bytes; /* of all, at most what one call moves */
};

/* Adds up what the vectors name.  Returns 0, -EINVAL or -EFAULT. */
static int count_bytes(struct vectors *v)
{
    if (v->count > VECTORS_MAX)
        return -EINVAL;
    for (uint64_t i = 0; i < v->count; i++) {
        struct iovec one;
        uint64_t room = SYSCALL_IO_MAX - v->bytes;

        if (copy_from_user(&one, v->user + i * sizeof one, sizeof one) != 0)
            return -EFAULT;
        if ((int64_t)one.iov_len < 0)
            return -EINVAL;
        v->bytes += one.iov_len < room ? one.iov_len : room;
    }
    return 0;
}

/* Goes to bytes that are left.  Returns false at the end, or if the vectors are gone. */
static bool find_part(struct vectors *v)
{
    while (!v->part) {
        struct iovec one;

        if (!v->count || copy_from_user(&one, v->user, sizeof one) != 0)
            return false;
        v->user += sizeof one;
        v->count--;
        v->at = (uint64_t)one.iov_base;
        v->part = one.iov_len;
    }
    return true;
}

/* Copies what lies in one page on either side.  Returns the bytes or -EFAULT. */
static int64_t copy_part(struct vm_space *space, const struct vectors *own,
                         const struct vectors *other, uint64_t most, bool writes)
{
    uint64_t bytes = PAGE_REST(own->at);
    uint64_t room;
    void *at;

    if (vm_access(space, other->at, writes ? VM_ACCESS_WRITE : VM_ACCESS_READ, &at, &room) != 0)
        return -EFAULT;
    bytes = bytes < most ? bytes : most;
    bytes = bytes < room ? bytes : room;
    bytes = bytes < own->part ? bytes : own->part;
    bytes = bytes < other->part ? bytes : other->part;
    if ((writes ? copy_from_user(at, own->at, bytes) : copy_to_user(own->at, at, bytes)) != 0)
        return -EFAULT;
    return (int64_t)bytes;
}

/* Copies until one side ends or cannot be reached. */
static int64_t copy_all(struct vm_space *space, struct vectors *own, struct vectors *other,
                        bool writes)
{
    uint64_t done = 0;

    vm_space_hold(space);
    while (done < own->bytes && find_part(own) && find_part(other)) {
        int64_t part = copy_part(space, own, other, own->bytes - done, writes);

        if (part < 0)
            break;
        own->at += (uint64_t)part;
        own->part -= (uint64_t)part;
        other->at += (uint64_t)part;
        other->part -= (uint64_t)part;
        done += (uint64_t)part;
    }
    vm_space_release(space);
    return done ? (int64_t)done : -EFAULT;
}

static int64_t copy_between(const struct trap_frame *frame, bool writes)
{
    struct vectors own = {.user = frame->rsi, .count = frame->rdx};
    struct vectors other = {.user = frame->r10, .count = frame->r8};
    const struct thread *whose;
    int error;

    if (frame->r9)
        return -EINVAL;
    error = count_bytes(&own);
    if (error || !own.bytes)
        return error;
    error = count_bytes(&other);
    if (error || !other.bytes)
        return error;
    whose = threads_find((uint32_t)frame->rdi);
    if (whose == NULL || whose->process->space == NULL)
        return -ESRCH;
    return copy_all(whose->process->space, &own, &other, writes);
}

int64_t syscall_process_vm_readv(struct thread *, struct trap_frame *frame)
{
    return copy_between(frame, false);
}

int64_t syscall_process_vm_writev(struct thread *, struct trap_frame *frame)
{
    return copy_between(frame, true);
}

/* ---- kcmp ---- */

/* Returns what a thread's process has of a kind, to be compared; files by descriptor. */
static const void *part_of(const struct process *process, uint32_t kind, uint64_t fd)
{
    switch (kind) {
    case KCMP_FILE:
        return process->files != NULL ? files_get(process, (int32_t)fd) : NULL;
    case KCMP_VM:
        return process->space;
    case KCMP_FILES:
        return process->files;
    case KCMP_FS:
        return process->place;
    case KCMP_SIGHAND:
        return process->actions;
    case KCMP_SYSVSEM:
        return process->undos;
    default: /* KCMP_IO: there are no contexts of input and output */
        return NULL;
    }
}

int64_t syscall_kcmp(struct thread *, struct trap_frame *frame)
{
    const struct thread *one = threads_find((uint32_t)frame->rdi);
    const struct thread *two = threads_find((uint32_t)frame->rsi);
    uint32_t kind = (uint32_t)frame->rdx;
    const void *a, *b;

    if (one == NULL || two == NULL)
        return -ESRCH;
    if (kind == KCMP_EPOLL_TFD)
        return -EOPNOTSUPP;
    if (kind >= KCMP_TYPES)
        return -EINVAL;
    a = part_of(one->process, kind, frame->r10);
    b = part_of(two->process, kind, frame->r8);
    if (kind == KCMP_FILE && (a == NULL || b == NULL))
        return -EBADF;
    return a == b ? 0 : (uint64_t)a < (uint64_t)b ? 1 : 2;
}
