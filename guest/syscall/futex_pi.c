/* Futexes with an owner. */
#include "guest/syscall/futex_pi.h"

#include <errno.h>
#include <linux/futex.h>

#include "guest/syscall/futex.h"
#include "guest/thread/threads.h"
#include "guest/thread/wait.h"
#include "guest/vm/uaccess.h"

#define SYSCALL_BYTES 2

static uint32_t waiting; /* threads that wait to own a futex */

static bool waits_to_own(const struct thread *thread, uint64_t space)
{
    return thread->futex.owner && thread->futex.space == (const struct vm_space *)space;
}

static struct thread *first_waiter(struct futex_key key)
{
    return waiting ? wait_first(key.address, waits_to_own, (uint64_t)key.space) : NULL;
}

static struct futex_key key_in(const struct thread *thread, const struct trap_frame *frame)
{
    return futex_key_of(thread, frame->rdi, frame->rsi & FUTEX_PRIVATE_FLAG);
}

/* Returns the word of a futex that the calling thread can reach, or NULL. */
static uint32_t *futex_pi_word(struct futex_key key)
{
    if (key.space == NULL)
        return (uint32_t *)key.address;
    return key.space == cpu_this()->thread->process->space ? uaccess_word(key.address) : NULL;
}

static bool futex_pi_replace(uint32_t *word, uint32_t *old, uint32_t new)
{
    return __atomic_compare_exchange_n(word, old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* Takes the futex if it is free; otherwise marks that a thread waits for the owner, and returns 1.
 */
static int futex_pi_take(struct thread *thread, uint64_t address, struct futex_key key, bool try)
{
    uint32_t *word = uaccess_word(address), old;

    if (word == NULL)
        return -EFAULT;
    old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
    for (;;) {
        uint32_t owner = old & FUTEX_TID_MASK;
        uint32_t new = old | FUTEX_WAITERS;

        if (owner == thread->tid)
            return -EDEADLK;
        if (!owner)
            new = thread->tid | (old & FUTEX_OWNER_DIED) |
                  (first_waiter(key) != NULL ? FUTEX_WAITERS : 0);
        else if (try)
            return -EAGAIN;
        else if (threads_find(owner) == NULL)
            return -ESRCH;
        if (!futex_pi_replace(word, &old, new))
            continue;
        if (owner)
            thread->futex.owner = owner;
        return owner ? 1 : 0;
    }
}

/* Ends the call for a signal.  As in Linux, the program's handler runs and the call is then
 * restarted: lock functions cannot handle EINTR.  Returns the old value of RAX. */
static int64_t futex_pi_again(struct thread *thread, struct trap_frame *frame)
{
    frame->rip -= SYSCALL_BYTES;
    thread->return_by_iret = true;
    return (int64_t)frame->vector;
}

int64_t futex_pi_lock(struct thread *thread, struct trap_frame *frame, uint64_t ns, bool try)
{
    struct futex_key key = key_in(thread, frame);
    int result = futex_pi_take(thread, frame->rdi, key, try);
    enum wait_end end;

    if (result <= 0)
        return result;
    thread->futex.bits = 0; /* FUTEX_WAKE must not find it */
    thread->futex.space = key.space;
    end = wait_counted(thread, key.address, ns, "a mutex", &waiting);
    thread->futex.owner = 0;
    if (end == WAIT_SIGNAL)
        return futex_pi_again(thread, frame);
    return end == WAIT_TIMEOUT ? -ETIMEDOUT : 0;
}

/* Makes the others wait for the new owner. */
static void wake_heir(struct thread *heir, struct futex_key key)
{
    wait_wake(heir);
    for (struct thread *t = first_waiter(key); t != NULL; t = t->wait.next)
        if (t->wait.key == key.address && waits_to_own(t, (uint64_t)key.space))
            t->futex.owner = heir->tid;
}

/* Hands the futex to the first waiter, or frees it.  What the word says about an owner that died
 * does not matter: C libraries may have changed it already. */
static int64_t hand_on(struct futex_key key, uint32_t owner, uint32_t died)
{
    uint32_t *word = futex_pi_word(key), old;

    if (word == NULL)
        return -EFAULT;
    old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
    for (;;) {
        struct thread *heir = first_waiter(key);

        if (!died && (old & FUTEX_TID_MASK) != owner)
            return -EPERM;
        if (!futex_pi_replace(word, &old, heir != NULL ? heir->tid | FUTEX_WAITERS | died : died))
            continue;
        if (heir != NULL)
            wake_heir(heir, key);
        return 0;
    }
}

int64_t futex_pi_unlock(const struct thread *thread, const struct trap_frame *frame)
{
    return hand_on(key_in(thread, frame), thread->tid, 0);
}

static void futex_pi_inherit(struct thread *thread, void *dead)
{
    const uint32_t tid = ((const struct thread *)dead)->tid;

    if (thread->futex.owner == tid && thread->wait.key)
        (void)hand_on((struct futex_key){thread->wait.key, thread->futex.space}, tid,
                      FUTEX_OWNER_DIED);
}

void futex_pi_thread_ends(const struct thread *thread)
{
    const struct process *process = NULL;

    while (waiting && (process = process_after(process)) != NULL)
        threads_each(process, futex_pi_inherit, (void *)thread);
}
