/* The operations of semop, all or none. */
#include "guest/ipc/sem_algebra.h"

#include <errno.h>

#define UNDO_MAX SEMAEM
#define UNDO_MIN (-SEMAEM - 1)

/* Does one operation.  Returns 0, 1 (wait) or -ERANGE. */
static int sem_step(struct sem_value *values, const struct sembuf *o, int16_t *undo)
{
    struct sem_value *value = &values[o->sem_num];
    int32_t result = value->value + o->sem_op;

    if ((!o->sem_op && value->value) || result < 0)
        return 1;
    if (result > SEMVMX)
        return -ERANGE;
    if (o->sem_flg & SEM_UNDO) {
        int32_t left = undo[o->sem_num] - o->sem_op;

        if (left < UNDO_MIN || left > UNDO_MAX)
            return -ERANGE;
        undo[o->sem_num] = (int16_t)left;
    }
    value->value = result;
    return 0;
}

static void take_back(struct sem_value *values, const struct sem_wish *wish, uint32_t done)
{
    while (done--) {
        const struct sembuf *o = &wish->operations[done];

        values[o->sem_num].value -= o->sem_op;
        if (o->sem_flg & SEM_UNDO)
            wish->undo[o->sem_num] = (int16_t)(wish->undo[o->sem_num] + o->sem_op);
    }
}

int sem_perform(struct sem_value *values, struct sem_wish *wish)
{
    for (uint32_t i = 0; i < wish->count; i++) {
        int result = sem_step(values, &wish->operations[i], wish->undo);

        if (!result)
            continue;
        take_back(values, wish, i);
        wish->blocking = i;
        return result > 0 && wish->operations[i].sem_flg & IPC_NOWAIT ? -EAGAIN : result;
    }
    for (uint32_t i = 0; i < wish->count; i++)
        values[wish->operations[i].sem_num].process = wish->process;
    return 0;
}

void sem_apply_undo(struct sem_value *value, int32_t undo, uint32_t process)
{
    if (!undo)
        return;
    value->value += undo;
    if (value->value < 0)
        value->value = 0;
    if (value->value > SEMVMX)
        value->value = SEMVMX;
    value->process = process;
}
