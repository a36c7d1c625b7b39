/* Futexes.  All are of one address space, so that a user address is a futex's name. */
#include "guest/futex.h"

#include <errno.h>
#include <linux/futex.h>

#include "guest/service.h"
#include "guest/syscall_handlers.h"
#include "guest/threads.h"
#include "guest/uaccess.h"
#include "guest/wait.h"

#define ROBUST_MAX 2048 /* list entries that are looked at: the list may be a circle */

static bool shares_bits(const struct thread *thread, uint64_t bits)
{
    return thread->futex_bits & bits;
}

static struct thread *first_waiter(uint64_t address, uint32_t bits)
{
    return wait_first(address, shares_bits, bits);
}

/* Wakes at most `most` waiters: their number. */
static int64_t wake(uint64_t address, uint32_t most, uint32_t bits)
{
    struct thread *thread;
    int64_t woken = 0;

    while (woken < most && (thread = first_waiter(address, bits))) {
        wait_wake(thread);
        woken++;
    }
    return woken;
}

/* Nanoseconds from now: relative for FUTEX_WAIT, absolute for the others. */
static int read_timeout(const struct trap_frame *frame, bool absolute, uint64_t *ns)
{
    uint64_t now;
    int error;

    *ns = WAIT_FOREVER;
    if (!frame->r10)
        return 0;
    error = syscall_read_time(frame->r10, ns);
    if (error || !absolute)
        return error;
    now = frame->rsi & FUTEX_CLOCK_REALTIME ? service_realtime_ns() : service_monotonic_ns();
    *ns = *ns > now ? *ns - now : 0;
    return 0;
}

static int64_t wait_for_value(struct thread *thread, const struct trap_frame *frame, uint32_t bits,
                              bool absolute)
{
    uint32_t value;
    uint64_t ns;
    int error;

    if (!bits)
        return -EINVAL;
    error = read_timeout(frame, absolute, &ns);
    if (error)
        return error;
    if (copy_from_user(&value, frame->rdi, sizeof value) != 0)
        return -EFAULT;
    if (value != (uint32_t)frame->rdx)
        return -EAGAIN;
    thread->futex_bits = bits;
    enum wait_end end = wait_on(thread, frame->rdi, ns, "futex");
    return end == WAIT_WOKEN ? 0 : end == WAIT_TIMEOUT ? -ETIMEDOUT : -EINTR;
}

/* Wakes some, and lets at most r10 others wait for another futex. */
static int64_t requeue(const struct trap_frame *frame, bool compare)
{
    uint32_t value, moved = 0;
    struct thread *thread;

    if ((int32_t)frame->rdx < 0 || (int32_t)frame->r10 < 0 || frame->r8 & 3)
        return -EINVAL;
    if (!frame->r8 || frame->r8 >= USER_END)
        return -EFAULT;
    if (copy_from_user(&value, frame->rdi, sizeof value) != 0)
        return -EFAULT;
    if (compare && value != (uint32_t)frame->r9)
        return -EAGAIN;
    int64_t woken = wake(frame->rdi, (uint32_t)frame->rdx, FUTEX_BITSET_MATCH_ANY);
    while (frame->r8 != frame->rdi && moved < (uint32_t)frame->r10 &&
           (thread = first_waiter(frame->rdi, FUTEX_BITSET_MATCH_ANY))) {
        wait_requeue(thread, frame->r8);
        moved++;
    }
    return woken + (compare ? moved : 0);
}

static int64_t wake_some(const struct trap_frame *frame, uint32_t bits)
{
    int32_t most = (int32_t)frame->rdx;

    if (!bits)
        return -EINVAL;
    return wake(frame->rdi, most < 1 ? 1u : (uint32_t)most, bits);
}

int64_t syscall_futex(struct thread *thread, struct trap_frame *frame)
{
    if (frame->rdi & 3)
        return -EINVAL;
    if (frame->rdi >= USER_END)
        return -EFAULT;
    switch (frame->rsi & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
        return wait_for_value(thread, frame, FUTEX_BITSET_MATCH_ANY, false);
    case FUTEX_WAIT_BITSET:
        return wait_for_value(thread, frame, (uint32_t)frame->r9, true);
    case FUTEX_WAKE:
        return wake_some(frame, FUTEX_BITSET_MATCH_ANY);
    case FUTEX_WAKE_BITSET:
        return wake_some(frame, (uint32_t)frame->r9);
    case FUTEX_REQUEUE:
        return requeue(frame, false);
    case FUTEX_CMP_REQUEUE:
        return requeue(frame, true);
    default:
        return -ENOSYS;
    }
}

/* A mutex whose owner ended: the next one that locks it is told. */
static void abandon(const struct thread *thread, uint64_t address)
{
    uint32_t word;

    if (address & 3 || copy_from_user(&word, address, sizeof word) != 0 ||
        (word & FUTEX_TID_MASK) != thread->tid)
        return;
    uint32_t left = (word & FUTEX_WAITERS) | FUTEX_OWNER_DIED;
    if (copy_to_user(address, &left, sizeof left) == 0 && word & FUTEX_WAITERS)
        wake(address, 1, FUTEX_BITSET_MATCH_ANY);
}

/* struct robust_list_head: first entry, a mutex's distance from its entry, one being locked.  The
 * lowest bit of an entry's address marks priority inheritance, which there is not. */
static void abandon_all(const struct thread *thread)
{
    uint64_t head[3], entry;

    if (!thread->robust_list || copy_from_user(head, thread->robust_list, sizeof head) != 0)
        return;
    entry = head[0] & ~1ull;
    for (int i = 0; i < ROBUST_MAX && entry != thread->robust_list; i++) {
        uint64_t next;

        if (copy_from_user(&next, entry, sizeof next) != 0)
            break;
        if (entry != (head[2] & ~1ull))
            abandon(thread, entry + head[1]);
        entry = next & ~1ull;
    }
    if (head[2])
        abandon(thread, (head[2] & ~1ull) + head[1]);
}

void futex_thread_ends(struct thread *thread)
{
    const uint32_t none = 0;

    abandon_all(thread);
    if (thread->clear_child_tid && copy_to_user(thread->clear_child_tid, &none, sizeof none) == 0)
        wake(thread->clear_child_tid, 1, FUTEX_BITSET_MATCH_ANY);
}
