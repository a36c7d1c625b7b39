/* Which operations on semaphores can proceed: pure logic, without waiting. */
#pragma once

#include <linux/sem.h>
#include <stdint.h>

struct sem_value {
    int32_t value; /* 0 .. SEMVMX */
    uint32_t process; /* that changed it last */
};

/* What the operations of one semop want. */
struct sem_wish {
    const struct sembuf *operations;
    uint32_t count;
    uint32_t process; /* whose they are */
    int16_t *undo; /* by semaphore: what is added when the process ends; NULL: without SEM_UNDO */
    uint32_t blocking; /* the operation that cannot proceed */
};

/* Does all operations, or none and returns why: 1 if they have to wait, -EAGAIN if the one that has
 * to wait may not, -ERANGE if a value or an undo would leave its range. */
int sem_perform(struct sem_value *values, struct sem_wish *wish);

/* Adds what a process left to be undone, as far as the range of values allows. */
void sem_apply_undo(struct sem_value *value, int32_t undo, uint32_t process);
