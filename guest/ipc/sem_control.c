/* semctl, and what /proc says of semaphores. */
#include <errno.h>

#include "guest/base/syscall_handlers.h"
#include "guest/ipc/sem.h"
#include "guest/memory/heap.h"
#include "guest/thread/wait.h"
#include "guest/vm/uaccess.h"

#define PART 128u /* values copied at a time */

static int64_t describe_limits(uint32_t command, uint64_t user)
{
    bool use = command == SEM_INFO;
    const struct seminfo info = {.semmap = SEM_VALUES_MOST,
                                 .semmni = SEM_SETS_MOST,
                                 .semmns = SEM_VALUES_MOST,
                                 .semmnu = SEM_VALUES_MOST,
                                 .semmsl = SEM_SET_VALUES,
                                 .semopm = SEM_OPERATIONS,
                                 .semume = SEM_OPERATIONS,
                                 .semusz = use ? (int)sem_sets.count : SEMUSZ,
                                 .semvmx = SEMVMX,
                                 .semaem = use ? (int)sem_values : SEMAEM};

    return copy_to_user(user, &info, sizeof info) ? -EFAULT : ipc_top(&sem_sets);
}

static int64_t describe(int64_t id, uint32_t command, uint64_t user)
{
    int error;
    const struct sem_set *set = (const struct sem_set *)ipc_subject(
        &sem_sets, id, command != IPC_STAT, command == SEM_STAT_ANY ? 0 : IPC_READ, &error);
    struct semid64_ds out;

    if (set == NULL)
        return error;
    out = (struct semid64_ds){.sem_otime = (long)set->used,
                              .sem_ctime = (long)set->object.changed,
                              .sem_nsems = set->count};
    ipc_describe(&set->object, &out.sem_perm);
    if (copy_to_user(user, &out, sizeof out) != 0)
        return -EFAULT;
    return command == IPC_STAT ? 0 : set->object.id;
}

static void sem_remove(struct sem_set *set)
{
    struct sem_waiter *next;

    for (struct sem_waiter *w = set->first; w != NULL; w = next) {
        next = w->next;
        w->result = -EIDRM;
        wait_wake(w->thread);
    }
    sem_undo_forget(set);
    sem_values -= set->count;
    ipc_remove(&sem_sets, &set->object);
    heap_free(set->values, set->count * sizeof *set->values);
    heap_free(set, sizeof *set);
}

/* IPC_SET and IPC_RMID: the user made the set, and may. */
static int64_t change_set(int64_t id, uint32_t command, uint64_t user)
{
    struct sem_set *set;
    struct semid64_ds wanted;

    if (command == IPC_SET && copy_from_user(&wanted, user, sizeof wanted) != 0)
        return -EFAULT;
    set = (struct sem_set *)ipc_find(&sem_sets, id);
    if (set == NULL)
        return -EINVAL;
    if (command == IPC_SET)
        return ipc_set(&set->object, &wanted.sem_perm);
    sem_remove(set);
    return 0;
}

static int64_t get_all(const struct sem_set *set, uint64_t user)
{
    uint16_t part[PART];

    for (uint32_t at = 0; at < set->count; at += PART) {
        uint32_t count = set->count - at < PART ? set->count - at : PART;

        for (uint32_t i = 0; i < count; i++)
            part[i] = (uint16_t)set->values[at + i].value;
        if (copy_to_user(user + at * sizeof part[0], part, count * sizeof part[0]) != 0)
            return -EFAULT;
    }
    return 0;
}

/* Nothing is set unless all values are good. */
static int64_t set_all(const struct thread *thread, struct sem_set *set, uint64_t user)
{
    uint64_t bytes = set->count * sizeof(uint16_t);
    uint16_t *values = heap_alloc(bytes);
    int64_t result = values == NULL ? -ENOMEM : copy_from_user(values, user, bytes);

    for (uint32_t i = 0; i < set->count && !result; i++)
        if (values[i] > SEMVMX)
            result = -ERANGE;
    for (uint32_t i = 0; i < set->count && !result; i++)
        set->values[i] = (struct sem_value){values[i], thread->process->pid};
    heap_free(values, bytes);
    if (result)
        return result;
    sem_undo_clear(set, 0, set->count);
    set->object.changed = ipc_now();
    sem_update(set);
    return 0;
}

static int64_t set_value(const struct thread *thread, int64_t id, int32_t number, int32_t value)
{
    struct sem_set *set;
    int error;

    if (value < 0 || value > SEMVMX)
        return -ERANGE;
    set = (struct sem_set *)ipc_find(&sem_sets, id);
    if (set == NULL || number < 0 || (uint32_t)number >= set->count)
        return -EINVAL;
    error = ipc_allowed(&set->object, IPC_WRITE);
    if (error)
        return error;
    sem_undo_clear(set, (uint32_t)number, (uint32_t)number + 1);
    set->values[number] = (struct sem_value){value, thread->process->pid};
    set->object.changed = ipc_now();
    sem_update(set);
    return 0;
}

/* Returns how many threads wait for a semaphore to grow, or to become zero. */
static int64_t count_waiters(const struct sem_set *set, uint32_t number, bool zero)
{
    int64_t count = 0;

    for (const struct sem_waiter *w = set->first; w != NULL; w = w->next) {
        const struct sembuf *o = &w->wish.operations[w->wish.blocking];

        count += o->sem_num == number && (zero ? o->sem_op == 0 : o->sem_op < 0);
    }
    return count;
}

static int64_t of_one(const struct thread *thread, const struct trap_frame *frame, uint32_t command)
{
    int error;
    struct sem_set *set = (struct sem_set *)ipc_subject(
        &sem_sets, (int32_t)frame->rdi, false, command == SETALL ? IPC_WRITE : IPC_READ, &error);
    uint32_t number = (uint32_t)frame->rsi;

    if (set == NULL)
        return error;
    if (command == GETALL)
        return get_all(set, frame->r10);
    if (command == SETALL)
        return set_all(thread, set, frame->r10);
    if (number >= set->count)
        return -EINVAL;
    switch (command) {
    case GETVAL:
        return set->values[number].value;
    case GETPID:
        return set->values[number].process;
    default:
        return count_waiters(set, number, command == GETZCNT);
    }
}

int64_t syscall_semctl(struct thread *thread, struct trap_frame *frame)
{
    uint32_t command = (uint32_t)frame->rdx;
    int64_t id = (int32_t)frame->rdi;

    if (id < 0)
        return -EINVAL;
    switch (command) {
    case IPC_INFO:
    case SEM_INFO:
        return describe_limits(command, frame->r10);
    case IPC_STAT:
    case SEM_STAT:
    case SEM_STAT_ANY:
        return describe(id, command, frame->r10);
    case IPC_SET:
    case IPC_RMID:
        return change_set(id, command, frame->r10);
    case SETVAL:
        return set_value(thread, id, (int32_t)frame->rsi, (int32_t)frame->r10);
    case GETALL:
    case SETALL:
    case GETVAL:
    case GETPID:
    case GETNCNT:
    case GETZCNT:
        return of_one(thread, frame, command);
    default:
        return -EINVAL;
    }
}

void sem_list(const struct thread *, const struct inode *, struct text *text)
{
    const struct sem_set *s;

    text_add(text, "       key      semid perms      nsems   uid   gid  cuid  cgid      otime      "
                   "ctime\n");
    for (uint32_t i = 0; (s = (struct sem_set *)ipc_next(&sem_sets, &i)) != NULL; i++)
        text_add(text, "%10d %10d  %4o %10u %5u %5u %5u %5u %10lu %10lu\n", (int)s->object.key,
                 s->object.id, s->object.mode, s->count, s->object.user, s->object.group,
                 s->object.creator_user, s->object.creator_group, s->used, s->object.changed);
}
