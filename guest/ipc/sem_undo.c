/* SEM_UNDO: what is added to semaphores when a process ends. */
#include <errno.h>
#include <linux/sched.h>

#include "guest/base/context.h"
#include "guest/base/syscall_handlers.h"
#include "guest/ipc/sem.h"
#include "guest/memory/heap.h"

static uint64_t undo_bytes(const struct sem_set *set)
{
    return sizeof(struct sem_undo) + set->count * sizeof(int16_t);
}

/* Returns the process's list, made if there is none; NULL if out of memory. */
static struct sem_undo_list *list_of(struct process *process)
{
    if (process->undos == NULL) {
        process->undos = heap_alloc(sizeof *process->undos);
        if (process->undos != NULL)
            process->undos->processes = 1;
    }
    return process->undos;
}

struct sem_undo *sem_undo_of(const struct thread *thread, struct sem_set *set)
{
    struct sem_undo_list *list = list_of(thread->process);
    struct sem_undo *undo = list != NULL ? list->first : NULL;

    while (undo != NULL && undo->set != set)
        undo = undo->next_of_list;
    if (undo != NULL || list == NULL || !ipc_memory(undo_bytes(set)))
        return undo;
    undo = heap_alloc(undo_bytes(set));
    if (undo == NULL)
        return NULL;
    undo->list = list;
    undo->set = set;
    undo->next_of_list = list->first;
    undo->next_of_set = set->undos;
    list->first = set->undos = undo;
    return undo;
}

void sem_undo_clear(struct sem_set *set, uint32_t first, uint32_t end)
{
    for (struct sem_undo *undo = set->undos; undo != NULL; undo = undo->next_of_set)
        for (uint32_t i = first; i < end; i++)
            undo->adjust[i] = 0;
}

static void leave_list(struct sem_undo *undo)
{
    struct sem_undo **link = &undo->list->first;

    while (*link != undo)
        link = &(*link)->next_of_list;
    *link = undo->next_of_list;
}

static void leave_set(struct sem_undo *undo)
{
    struct sem_undo **link = &undo->set->undos;

    while (*link != undo)
        link = &(*link)->next_of_set;
    *link = undo->next_of_set;
}

void sem_undo_forget(struct sem_set *set)
{
    while (set->undos != NULL) {
        struct sem_undo *undo = set->undos;

        leave_list(undo);
        set->undos = undo->next_of_set;
        heap_free(undo, undo_bytes(set));
    }
}

int ipc_process_shares(struct process *child, struct process *parent)
{
    struct sem_undo_list *list = list_of(parent);

    if (list == NULL)
        return -ENOMEM;
    list->processes++;
    child->undos = list;
    return 0;
}

void ipc_process_ends(struct process *process)
{
    struct sem_undo_list *list = process->undos;

    cross_assert_held();
    process->undos = NULL;
    if (list == NULL || --list->processes)
        return;
    while (list->first != NULL) {
        struct sem_undo *undo = list->first;
        struct sem_set *set = undo->set;

        list->first = undo->next_of_list;
        leave_set(undo);
        for (uint32_t i = 0; i < set->count; i++)
            sem_apply_undo(&set->values[i], undo->adjust[i], process->pid);
        heap_free(undo, undo_bytes(set));
        set->used = ipc_now();
        sem_update(set);
    }
    heap_free(list, sizeof *list);
}

/* A process that leaves the list that it has alone undoes all. */
int64_t syscall_unshare(struct thread *thread, struct trap_frame *frame)
{
    if (frame->rdi != CLONE_SYSVSEM || thread->process->thread_count != 1)
        return -EPERM;
    ipc_process_ends(thread->process);
    return 0;
}
