/* Operations on semaphores: semget, semop and those who wait. */
#include "guest/ipc/sem.h"

#include <errno.h>

#include "guest/base/context.h"
#include "guest/base/syscall_handlers.h"
#include "guest/memory/heap.h"
#include "guest/thread/wait.h"
#include "guest/vm/uaccess.h"

#define FEW_OPERATIONS 16u /* kept on the stack */

uint32_t sem_values;

/* ---- sets */

static int64_t sem_make(struct thread *, uint32_t key, uint64_t count, uint32_t flags)
{
    struct sem_set *set;
    int64_t id;

    if (!count)
        return -EINVAL;
    if (sem_values + count > SEM_VALUES_MOST)
        return -ENOSPC;
    set = ipc_memory(count * sizeof *set->values) ? heap_alloc(sizeof *set) : NULL;
    if (set == NULL)
        return -ENOMEM;
    set->count = (uint32_t)count;
    set->values = heap_alloc(count * sizeof *set->values);
    id = set->values != NULL ? ipc_add(&sem_sets, &set->object, key, flags) : -ENOMEM;
    if (id < 0) {
        heap_free(set->values, count * sizeof *set->values);
        heap_free(set, sizeof *set);
        return id;
    }
    sem_values += set->count;
    return id;
}

static int sem_check(const struct ipc_object *object, uint64_t count)
{
    return count > ((const struct sem_set *)object)->count ? -EINVAL : 0;
}

struct ipc_kind sem_sets = {.most = SEM_SETS_MOST, .make = sem_make, .check = sem_check};

int64_t syscall_semget(struct thread *thread, struct trap_frame *frame)
{
    int32_t count = (int32_t)frame->rsi;

    if (count < 0 || count > (int32_t)SEM_SET_VALUES)
        return -EINVAL;
    return ipc_get(&sem_sets, thread, (uint32_t)frame->rdi, (uint64_t)count, (uint32_t)frame->rdx);
}

/* ---- waiters */

static void add_waiter(struct sem_set *set, struct sem_waiter *waiter)
{
    waiter->previous = set->last;
    *(set->last != NULL ? &set->last->next : &set->first) = waiter;
    set->last = waiter;
}

static void remove_waiter(struct sem_set *set, struct sem_waiter *waiter)
{
    *(waiter->next != NULL ? &waiter->next->previous : &set->last) = waiter->previous;
    *(waiter->previous != NULL ? &waiter->previous->next : &set->first) = waiter->next;
}

/* Tries the waiters that alter something, or those that do not.  Returns true when one altered
 * something: then others may proceed. */
static bool try_waiters(struct sem_set *set, bool altering)
{
    struct sem_waiter *next;

    for (struct sem_waiter *w = set->first; w != NULL; w = next) {
        next = w->next;
        if (w->alters != altering)
            continue;
        w->result = sem_perform(set->values, &w->wish);
        if (w->result > 0)
            continue;
        remove_waiter(set, w);
        wait_wake(w->thread);
        if (w->result)
            continue;
        set->used = ipc_now();
        if (altering)
            return true;
    }
    return false;
}

void sem_update(struct sem_set *set)
{
    cross_assert_held();
    do
        try_waiters(set, false);
    while (try_waiters(set, true));
}

static int64_t sem_sleep(struct sem_set *set, struct sem_waiter *waiter, uint64_t ns)
{
    enum wait_end end;

    add_waiter(set, waiter);
    end = wait_for(waiter->thread, ns, "a semaphore");
    if (waiter->result <= 0) /* the set may be gone */
        return waiter->result;
    remove_waiter(set, waiter);
    return end == WAIT_SIGNAL ? -EINTR : -EAGAIN;
}

/* ---- semop */

/* Looks at the operations.  Returns 0 or -EFBIG. */
static int survey(const struct sem_set *set, struct sem_waiter *waiter, bool *undoes)
{
    for (uint32_t i = 0; i < waiter->wish.count; i++) {
        const struct sembuf *o = &waiter->wish.operations[i];

        if (o->sem_num >= set->count)
            return -EFBIG;
        waiter->alters |= o->sem_op != 0;
        *undoes |= (o->sem_flg & SEM_UNDO) != 0;
    }
    return 0;
}

static int64_t operate(struct thread *thread, int64_t id, const struct sembuf *operations,
                       uint32_t count, uint64_t ns)
{
    struct sem_set *set = (struct sem_set *)ipc_find(&sem_sets, id);
    struct sem_waiter waiter = {
        .thread = thread,
        .wish = {.operations = operations, .count = count, .process = thread->process->pid}};
    bool undoes = false;
    int error = set == NULL ? -EINVAL : survey(set, &waiter, &undoes);

    if (!error)
        error = ipc_allowed(&set->object, waiter.alters ? IPC_WRITE : IPC_READ);
    if (error)
        return error;
    if (undoes) {
        struct sem_undo *undo = sem_undo_of(thread, set);

        if (undo == NULL)
            return -ENOMEM;
        waiter.wish.undo = undo->adjust;
    }
    waiter.result = sem_perform(set->values, &waiter.wish);
    if (waiter.result > 0)
        return sem_sleep(set, &waiter, ns);
    if (!waiter.result) {
        set->used = ipc_now();
        if (waiter.alters)
            sem_update(set);
    }
    return waiter.result;
}

static int64_t read_and_operate(struct thread *thread, const struct trap_frame *frame, uint64_t ns)
{
    uint64_t count = (uint32_t)frame->rdx, bytes = count * sizeof(struct sembuf);
    struct sembuf few[FEW_OPERATIONS], *operations = few;
    int64_t result;

    if (!count || (int32_t)frame->rdi < 0)
        return -EINVAL;
    if (count > SEM_OPERATIONS)
        return -E2BIG;
    if (count > FEW_OPERATIONS)
        operations = heap_alloc(bytes);
    if (operations == NULL)
        return -ENOMEM;
    result = copy_from_user(operations, frame->rsi, bytes);
    if (!result)
        result = operate(thread, (int32_t)frame->rdi, operations, (uint32_t)count, ns);
    if (operations != few)
        heap_free(operations, bytes);
    return result;
}

int64_t syscall_semop(struct thread *thread, struct trap_frame *frame)
{
    return read_and_operate(thread, frame, WAIT_FOREVER);
}

int64_t syscall_semtimedop(struct thread *thread, struct trap_frame *frame)
{
    uint64_t ns = WAIT_FOREVER;
    int error = frame->r10 ? uaccess_time(frame->r10, &ns) : 0;

    return error ? error : read_and_operate(thread, frame, ns);
}
