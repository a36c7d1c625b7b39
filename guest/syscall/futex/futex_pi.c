/* Futexes with an owner. */
#include "guest/syscall/futex/futex_pi.h"

#include <errno.h>
#include <linux/futex.h>

#include "guest/thread/threads.h"
#include "guest/thread/wait.h"
#include "guest/vm/uaccess.h"
#include "guest/vm/vm_access.h"

#define SYSCALL_BYTES 2

static uint32_t waiting; /* threads that wait to own a futex */

static bool waits_to_own(const struct thread *thread, uint64_t /* context */)
{
    return thread->futex.owner;
}

static struct thread *first_waiter(uint64_t key)
{
    return waiting ? wait_first(key, waits_to_own, 0) : NULL;
}

static bool futex_pi_replace(uint32_t *word, uint32_t *old, uint32_t new)
{
    return __atomic_compare_exchange_n(word, old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* Takes the futex if it is free; otherwise marks that a thread waits for the owner, and returns 1.
 */
static int futex_pi_take(struct thread *thread, uint64_t address, uint64_t key, bool try)
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
    thread->after_call.return_by_iret = true;
    return (int64_t)frame->vector;
}

int64_t futex_pi_lock(struct thread *thread, struct trap_frame *frame, uint64_t key, uint64_t ns,
                      bool try)
{
    int result = futex_pi_take(thread, frame->rdi, key, try);
    enum wait_end end;

    if (result <= 0)
        return result;
    thread->futex.bits = 0; /* FUTEX_WAKE must not find it */
    thread->futex.address = frame->rdi;
    end = wait_counted(thread, key, ns, "a mutex", &waiting);
    thread->futex.owner = 0;
    if (end == WAIT_SIGNAL)
        return futex_pi_again(thread, frame);
    return end == WAIT_TIMEOUT ? -ETIMEDOUT : 0;
}

/* Makes the others wait for the new owner. */
static void wake_heir(struct thread *heir, uint64_t key)
{
    wait_wake(heir);
    for (struct thread *t = first_waiter(key); t != NULL; t = t->wait.next)
        if (t->futex.owner && t->wait.key == key)
            t->futex.owner = heir->tid;
}

/* Hands the futex to the first waiter, or frees it.  What the word says about an owner that died
 * does not matter: C libraries may have changed it already. */
static int64_t hand_on(uint32_t *word, uint64_t key, uint32_t owner, uint32_t died)
{
    uint32_t old;

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

int64_t futex_pi_unlock(const struct thread *thread, uint64_t address, uint64_t key)
{
    return hand_on(uaccess_word(address), key, thread->tid, 0);
}

/* Hands on what a waiter waits for.  The word is looked up in the waiter's process. */
static void futex_pi_inherit(struct thread *thread, void *dead)
{
    const uint32_t tid = ((const struct thread *)dead)->tid;
    uint64_t room;
    void *word;

    if (thread->futex.owner == tid && thread->wait.key &&
        vm_access(thread->process->space, thread->futex.address, VM_ACCESS_WRITE, &word, &room) ==
            0)
        (void)hand_on(word, thread->wait.key, tid, FUTEX_OWNER_DIED);
}

void futex_pi_thread_ends(const struct thread *thread)
{
    const struct process *process = NULL;

    while (waiting && (process = process_after(process)) != NULL)
        threads_each(process, futex_pi_inherit, (void *)thread);
}
