/* Sets of semaphores: semget, semop, semtimedop, semctl.
 *
 * A thread whose operations cannot proceed waits in the set's list.  A thread that changes a value
 * tries the waiters in the order in which they came, those that only wait for zeros first, and does
 * their operations for them: a woken thread has what it wanted.
 *
 * Context: thread, with the kernel lock held. */
#pragma once

#include "guest/ipc/ipc.h"
#include "guest/ipc/sem_algebra.h"

#define SEM_SETS_MOST 32000u /* SEMMNI */
#define SEM_SET_VALUES 32000u /* SEMMSL: semaphores of a set */
#define SEM_VALUES_MOST 1024000000u /* SEMMNS: semaphores of all sets */
#define SEM_OPERATIONS 500u /* SEMOPM */

struct sem_waiter { /* on the waiting thread's stack */
    struct sem_waiter *next, *previous;
    struct thread *thread;
    struct sem_wish wish;
    bool alters; /* not all of its operations wait for a zero */
    int result; /* 1: it waits; then it is off the list */
};

struct sem_undo { /* what a list of undos has for one set */
    struct sem_undo *next_of_list, *next_of_set;
    struct sem_undo_list *list;
    struct sem_set *set;
    int16_t adjust[]; /* by semaphore */
};

struct sem_undo_list { /* of a process, or of several: CLONE_SYSVSEM */
    uint32_t processes;
    struct sem_undo *first;
};

struct sem_set {
    struct ipc_object object;
    uint32_t count; /* semaphores */
    struct sem_value *values;
    uint64_t used; /* time of the last semop, in seconds since 1970; 0: never */
    struct sem_waiter *first, *last;
    struct sem_undo *undos;
};

extern struct ipc_kind sem_sets;
extern uint32_t sem_values; /* of all sets */

/* Does the operations of waiters that can proceed now, and wakes them. */
void sem_update(struct sem_set *set);

/* guest/ipc/sem_undo.c: returns the undos of the thread's process for a set, made if there are
 * none; NULL if out of memory. */
struct sem_undo *sem_undo_of(const struct thread *thread, struct sem_set *set);
void sem_undo_clear(struct sem_set *set, uint32_t first, uint32_t end); /* for semaphores */
void sem_undo_forget(struct sem_set *set); /* call before the set is freed */

/* The text of /proc/sysvipc/sem. */
struct inode;
void sem_list(const struct thread *thread, const struct inode *inode, struct text *text);
