/* Futexes.  A key identifies one: in memory that processes share, the address by which the kernel
 * reaches it; elsewhere the address space and the address in it. */
#include "guest/syscall/futex.h"
#include "guest/cpu/clock.h"

#include <errno.h>
#include <linux/futex.h>

#include "guest/base/syscall_handlers.h"
#include "guest/syscall/futex_pi.h"
#include "guest/thread/threads.h"
#include "guest/thread/wait.h"
#include "guest/vm/uaccess.h"
#include "guest/vm/vm.h"

#define ROBUST_MAX 2048 /* most list entries visited: the list may be circular */

struct futex_key futex_key_of(const struct thread *thread, uint64_t address, bool private)
{
    struct vm_space *space = thread->process->space;
    const struct vm_area *area = private ? NULL : vm_find(space, address);
    const uint32_t *word =
        area != NULL && area->flags & VM_AREA_SHARED && area->protection & VM_WRITE
            ? uaccess_word(address)
            : NULL;

    return word != NULL ? (struct futex_key){WAIT_KEY(word), NULL}
                        : (struct futex_key){address, space};
}

struct wanted { /* waiters that wait for a key, with some of these bits */
    const struct vm_space *space;
    uint32_t bits;
};

static bool is_wanted(const struct thread *thread, uint64_t context)
{
    const struct wanted *wanted = (const struct wanted *)context;

    return thread->futex.space == wanted->space && thread->futex.bits & wanted->bits;
}

static struct thread *first_waiter(struct futex_key key, uint32_t bits)
{
    const struct wanted wanted = {key.space, bits};

    return wait_first(key.address, is_wanted, (uint64_t)&wanted);
}

/* Wakes at most `most` waiters; returns how many. */
static int64_t futex_wake(struct futex_key key, uint32_t most, uint32_t bits)
{
    struct thread *thread;
    int64_t woken = 0;

    while (woken < most && (thread = first_waiter(key, bits)) != NULL) {
        wait_wake(thread);
        woken++;
    }
    return woken;
}

static struct futex_key key_at(const struct thread *thread, const struct trap_frame *frame,
                               uint64_t address)
{
    return futex_key_of(thread, address, frame->rsi & FUTEX_PRIVATE_FLAG);
}

/* Nanoseconds from now of the time limit in r10, which is relative or one of a clock. */
enum limit_clock { RELATIVE, REALTIME, MONOTONIC };

static int read_timeout(const struct trap_frame *frame, enum limit_clock limit, uint64_t *ns)
{
    uint64_t now;
    int error;

    *ns = WAIT_FOREVER;
    if (!frame->r10)
        return 0;
    error = syscall_read_time(frame->r10, ns);
    if (error || limit == RELATIVE)
        return error;
    now = limit == REALTIME ? clock_realtime_ns() : clock_monotonic_ns();
    *ns = *ns > now ? *ns - now : 0;
    return 0;
}

static enum limit_clock limit_of(const struct trap_frame *frame)
{
    return frame->rsi & FUTEX_CLOCK_REALTIME ? REALTIME : MONOTONIC;
}

static int64_t wait_for_value(struct thread *thread, const struct trap_frame *frame, uint32_t bits,
                              enum limit_clock limit)
{
    struct futex_key key;
    uint32_t value;
    uint64_t ns;
    int error;
    enum wait_end end;

    if (!bits)
        return -EINVAL;
    error = read_timeout(frame, limit, &ns);
    if (error)
        return error;
    if (copy_from_user(&value, frame->rdi, sizeof value) != 0)
        return -EFAULT;
    if (value != (uint32_t)frame->rdx)
        return -EAGAIN;
    key = key_at(thread, frame, frame->rdi);
    thread->futex.bits = bits;
    thread->futex.space = key.space;
    end = wait_on(thread, key.address, ns, "futex");
    return end == WAIT_WOKEN ? 0 : end == WAIT_TIMEOUT ? -ETIMEDOUT : -EINTR;
}

/* Wakes some waiters, and makes at most r10 others wait for another futex. */
static int64_t futex_requeue(const struct thread *self, const struct trap_frame *frame,
                             bool compare)
{
    struct futex_key from, to;
    uint32_t value, moved = 0;
    struct thread *thread;
    int64_t woken;

    if ((int32_t)frame->rdx < 0 || (int32_t)frame->r10 < 0 || frame->r8 & 3)
        return -EINVAL;
    if (!frame->r8 || frame->r8 >= USER_END)
        return -EFAULT;
    if (copy_from_user(&value, frame->rdi, sizeof value) != 0)
        return -EFAULT;
    if (compare && value != (uint32_t)frame->r9)
        return -EAGAIN;
    from = key_at(self, frame, frame->rdi);
    to = key_at(self, frame, frame->r8);
    woken = futex_wake(from, (uint32_t)frame->rdx, FUTEX_BITSET_MATCH_ANY);
    while (frame->r8 != frame->rdi && moved < (uint32_t)frame->r10 &&
           (thread = first_waiter(from, FUTEX_BITSET_MATCH_ANY)) != NULL) {
        thread->futex.space = to.space;
        wait_requeue(thread, to.address);
        moved++;
    }
    return woken + (compare ? moved : 0);
}

static int64_t wake_some(const struct thread *thread, const struct trap_frame *frame, uint32_t bits)
{
    int32_t most = (int32_t)frame->rdx;

    if (!bits)
        return -EINVAL;
    return futex_wake(key_at(thread, frame, frame->rdi), most < 1 ? 1u : (uint32_t)most, bits);
}

#define OPERAND(word, at) ((uint32_t)((int32_t)((word) << (20 - (at))) >> 20)) /* of 12 bits */

static bool futex_holds(uint32_t comparison, int32_t old, int32_t limit)
{
    switch (comparison) {
    case FUTEX_OP_CMP_EQ:
        return old == limit;
    case FUTEX_OP_CMP_NE:
        return old != limit;
    case FUTEX_OP_CMP_LT:
        return old < limit;
    case FUTEX_OP_CMP_LE:
        return old <= limit;
    case FUTEX_OP_CMP_GT:
        return old > limit;
    default:
        return old >= limit;
    }
}

/* Applies the operation to the word at r8.  Returns 1 if the comparison holds for the old value, 0
 * if not, or -errno. */
static int change_word(const struct trap_frame *frame)
{
    uint32_t code = (uint32_t)frame->r9, operand = OPERAND(code, 12), limit = OPERAND(code, 0);
    uint32_t *word = uaccess_word(frame->r8), old, new;

    if (code >> 31)
        operand = 1u << (operand & 31);
    if ((code >> 28 & 7) > FUTEX_OP_XOR || (code >> 24 & 15) > FUTEX_OP_CMP_GE)
        return -ENOSYS;
    if (word == NULL)
        return -EFAULT;
    old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
    do {
        const uint32_t results[] = {[FUTEX_OP_SET] = operand,
                                    [FUTEX_OP_ADD] = old + operand,
                                    [FUTEX_OP_OR] = old | operand,
                                    [FUTEX_OP_ANDN] = old & ~operand,
                                    [FUTEX_OP_XOR] = old ^ operand};

        new = results[code >> 28 & 7];
    } while (
        !__atomic_compare_exchange_n(word, &old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    return futex_holds(code >> 24 & 15, (int32_t)old, (int32_t)limit);
}

/* Changes one word, wakes waiters of the other word and, if the old value says so, of that one. */
static int64_t wake_and_change(const struct thread *thread, const struct trap_frame *frame)
{
    int64_t woken;
    int both;

    if (frame->r8 & 3)
        return -EINVAL;
    both = change_word(frame);
    if (both < 0)
        return both;
    woken = wake_some(thread, frame, FUTEX_BITSET_MATCH_ANY);
    if (both)
        woken +=
            futex_wake(key_at(thread, frame, frame->r8),
                       (int32_t)frame->r10 < 1 ? 1u : (uint32_t)frame->r10, FUTEX_BITSET_MATCH_ANY);
    return woken;
}

static int64_t futex_lock(struct thread *thread, struct trap_frame *frame, enum limit_clock limit)
{
    uint64_t ns;
    int error = read_timeout(frame, limit, &ns);

    return error ? error : futex_pi_lock(thread, frame, ns, false);
}

int64_t syscall_futex(struct thread *thread, struct trap_frame *frame)
{
    if (frame->rdi & 3)
        return -EINVAL;
    if (frame->rdi >= USER_END)
        return -EFAULT;
    switch (frame->rsi & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
        return wait_for_value(thread, frame, FUTEX_BITSET_MATCH_ANY, RELATIVE);
    case FUTEX_WAIT_BITSET:
        return wait_for_value(thread, frame, (uint32_t)frame->r9, limit_of(frame));
    case FUTEX_WAKE:
        return wake_some(thread, frame, FUTEX_BITSET_MATCH_ANY);
    case FUTEX_WAKE_BITSET:
        return wake_some(thread, frame, (uint32_t)frame->r9);
    case FUTEX_REQUEUE:
        return futex_requeue(thread, frame, false);
    case FUTEX_CMP_REQUEUE:
        return futex_requeue(thread, frame, true);
    case FUTEX_WAKE_OP:
        return wake_and_change(thread, frame);
    case FUTEX_LOCK_PI: /* by the wall clock, though the call does not say so */
        return futex_lock(thread, frame, REALTIME);
    case FUTEX_LOCK_PI2:
        return futex_lock(thread, frame, limit_of(frame));
    case FUTEX_TRYLOCK_PI:
        return futex_pi_lock(thread, frame, 0, true);
    case FUTEX_UNLOCK_PI:
        return futex_pi_unlock(thread, frame);
    default:
        return -ENOSYS;
    }
}

/* Abandons a mutex whose owner ended: the next thread that locks it is told.  Those that wait to
 * own it have been served already. */
static void futex_abandon(const struct thread *thread, uint64_t address, bool with_owner)
{
    uint32_t *word = uaccess_word(address), old;

    if (word == NULL)
        return;
    old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
    do {
        if ((old & FUTEX_TID_MASK) != thread->tid)
            return;
    } while (!__atomic_compare_exchange_n(word, &old, (old & FUTEX_WAITERS) | FUTEX_OWNER_DIED,
                                          false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    if (old & FUTEX_WAITERS && !with_owner)
        futex_wake(futex_key_of(thread, address, false), 1, FUTEX_BITSET_MATCH_ANY);
}

/* struct robust_list_head: first entry, a mutex's distance from its entry, one being locked.  The
 * lowest bit of an entry's address says that its mutex has an owner in guest/syscall/futex_pi.c's
 * sense. */
static void abandon_all(const struct thread *thread)
{
    uint64_t head[3], entry;

    if (!thread->robust_list || copy_from_user(head, thread->robust_list, sizeof head) != 0)
        return;
    entry = head[0];
    for (int i = 0; i < ROBUST_MAX && (entry & ~1ull) != thread->robust_list; i++) {
        uint64_t next;

        if (copy_from_user(&next, entry & ~1ull, sizeof next) != 0)
            break;
        if ((entry & ~1ull) != (head[2] & ~1ull))
            futex_abandon(thread, (entry & ~1ull) + head[1], entry & 1);
        entry = next;
    }
    if (head[2])
        futex_abandon(thread, (head[2] & ~1ull) + head[1], head[2] & 1);
}

void futex_thread_ends(struct thread *thread)
{
    const uint32_t none = 0;

    futex_pi_thread_ends(thread);
    abandon_all(thread);
    if (thread->clear_child_tid && copy_to_user(thread->clear_child_tid, &none, sizeof none) == 0)
        futex_wake(futex_key_of(thread, thread->clear_child_tid, false), 1, FUTEX_BITSET_MATCH_ANY);
    thread->clear_child_tid = thread->robust_list = 0;
}
