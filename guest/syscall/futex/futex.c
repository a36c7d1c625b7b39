/* Futexes: by their keys (guest/syscall/futex/futex_key.h). */
#include "guest/syscall/futex/futex.h"
#include "guest/cpu/clock.h"

#include <errno.h>
#include <linux/futex.h>

#include "guest/base/syscall_handlers.h"
#include "guest/syscall/futex/futex_key.h"
#include "guest/syscall/futex/futex_pi.h"
#include "guest/thread/wait.h"
#include "guest/vm/uaccess.h"

#define ROBUST_MAX 2048 /* most list entries visited: the list may be circular */

static bool shares_bits(const struct thread *thread, uint64_t bits)
{
    return thread->futex.bits & bits;
}

static struct thread *first_waiter(uint64_t key, uint32_t bits)
{
    return wait_first(key, shares_bits, bits);
}

/* Wakes at most `most` waiters; returns how many. */
static int64_t futex_wake(uint64_t key, uint32_t most, uint32_t bits)
{
    struct thread *thread;
    int64_t woken = 0;

    while (woken < most && (thread = first_waiter(key, bits)) != NULL) {
        wait_wake(thread);
        woken++;
    }
    return woken;
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
    error = uaccess_time(frame->r10, ns);
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

/* Returns the key of one of the call's futexes.  0: EFAULT, or address 0, where no futex is. */
static inline uint64_t futex_key(const struct thread *thread, const struct trap_frame *frame,
                                 uint64_t address)
{
    return frame->rsi & FUTEX_PRIVATE_FLAG ? futex_key_private(thread, address)
                                           : futex_key_shared(thread, address);
}

static int64_t wait_for_value(struct thread *thread, const struct trap_frame *frame, uint32_t bits,
                              enum limit_clock limit)
{
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
    thread->futex.bits = bits;
    end = wait_on(thread, futex_key(thread, frame, frame->rdi), ns, "futex");
    return end == WAIT_WOKEN ? 0 : end == WAIT_TIMEOUT ? -ETIMEDOUT : -EINTR;
}

/* Wakes some waiters, and makes at most r10 others wait for another futex. */
static int64_t futex_requeue(const struct thread *caller, const struct trap_frame *frame,
                             bool compare)
{
    uint64_t key = futex_key(caller, frame, frame->rdi), second;
    uint32_t value, moved = 0;
    struct thread *thread;
    int64_t woken;

    if ((int32_t)frame->rdx < 0 || (int32_t)frame->r10 < 0 || frame->r8 & 3)
        return -EINVAL;
    if (!frame->r8 || frame->r8 >= USER_END)
        return -EFAULT;
    second = futex_key(caller, frame, frame->r8);
    if (!key || !second)
        return -EFAULT;
    if (copy_from_user(&value, frame->rdi, sizeof value) != 0)
        return -EFAULT;
    if (compare && value != (uint32_t)frame->r9)
        return -EAGAIN;
    woken = futex_wake(key, (uint32_t)frame->rdx, FUTEX_BITSET_MATCH_ANY);
    while (second != key && moved < (uint32_t)frame->r10 &&
           (thread = first_waiter(key, FUTEX_BITSET_MATCH_ANY)) != NULL) {
        wait_requeue(thread, second);
        moved++;
    }
    return woken + (compare ? moved : 0);
}

static inline __attribute__((always_inline)) int64_t
wake_some(const struct thread *thread, const struct trap_frame *frame, uint32_t bits)
{
    int32_t most = (int32_t)frame->rdx;
    uint64_t key;

    if (!bits)
        return -EINVAL;
    key = futex_key(thread, frame, frame->rdi);
    if (__builtin_expect(!key, 0))
        return frame->rsi & FUTEX_PRIVATE_FLAG ? 0 : -EFAULT;
    return futex_wake(key, most < 1 ? 1u : (uint32_t)most, bits);
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
    uint64_t second;
    int64_t woken;
    int both;

    if (frame->r8 & 3)
        return -EINVAL;
    second = futex_key(thread, frame, frame->r8);
    if (!second)
        return -EFAULT;
    both = change_word(frame);
    if (both < 0)
        return both;
    woken = wake_some(thread, frame, FUTEX_BITSET_MATCH_ANY);
    if (both)
        woken += futex_wake(second, (int32_t)frame->r10 < 1 ? 1u : (uint32_t)frame->r10,
                            FUTEX_BITSET_MATCH_ANY);
    return woken;
}

static int64_t futex_lock(struct thread *thread, struct trap_frame *frame, enum limit_clock limit)
{
    uint64_t ns;
    int error = read_timeout(frame, limit, &ns);

    return error ? error
                 : futex_pi_lock(thread, frame, futex_key(thread, frame, frame->rdi), ns, false);
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
        return futex_pi_lock(thread, frame, futex_key(thread, frame, frame->rdi), 0, true);
    case FUTEX_UNLOCK_PI:
        return futex_pi_unlock(thread, frame->rdi, futex_key(thread, frame, frame->rdi));
    default:
        return -ENOSYS;
    }
}

/* Wakes a waiter as another process would. */
static void wake_one(const struct thread *thread, uint64_t address)
{
    uint64_t key = futex_key_shared(thread, address);

    if (key)
        futex_wake(key, 1, FUTEX_BITSET_MATCH_ANY);
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
        wake_one(thread, address);
}

/* struct robust_list_head: first entry, a mutex's distance from its entry, one being locked.  The
 * lowest bit of an entry's address says that its mutex has an owner in
 * guest/syscall/futex/futex_pi.c's sense. */
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
        wake_one(thread, thread->clear_child_tid);
    thread->clear_child_tid = thread->robust_list = 0;
}
