/* Calls on objects between processes: half of them on objects that exist, with operations that can
 * succeed. */
#pragma once

#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

#include "workloads/fuzz.h"

#define FUZZ_OBJECTS 64 /* of each kind: indices that are looked at */
#define FUZZ_STAT_ANY_SHM 15
#define FUZZ_STAT_ANY_SEM 20
#define FUZZ_STAT_ANY_MSG 13

struct fuzz_ipc { /* memory of the caller's own */
    struct sembuf operations[4];
    struct mq_attr attributes;
    char name[8];
    struct {
        long type;
        char text[64];
    } message;
    union {
        struct shmid_ds shm;
        struct semid_ds sem;
        struct msqid_ds msg;
        char room[256];
    } status;
};

/* Returns the identifier of the object of a kind at an index, or -1. */
static inline int64_t object_at(struct fuzz_ipc *own, uint64_t control, uint64_t index)
{
    uint64_t status = (uint64_t)&own->status;

    if (control == __NR_semctl)
        return call(control, (const uint64_t[6]){index, 0, FUZZ_STAT_ANY_SEM, status});
    return call3(control, index, control == __NR_shmctl ? FUZZ_STAT_ANY_SHM : FUZZ_STAT_ANY_MSG,
                 status);
}

static inline uint64_t some_object(struct fuzz *f, struct fuzz_ipc *own, uint64_t control)
{
    int64_t id = object_at(own, control, below(f, FUZZ_OBJECTS));

    return id >= 0 ? (uint64_t)id : below(f, FUZZ_OBJECTS);
}

static inline void own_operations(struct fuzz *f, struct fuzz_ipc *own, uint64_t *a)
{
    for (int i = 0; i < 4; i++)
        own->operations[i] =
            (struct sembuf){(unsigned short)below(f, 4), (short)(below(f, 5) - 2),
                            (short)(below(f, 2) * SEM_UNDO + below(f, 2) * IPC_NOWAIT)};
    a[1] = (uint64_t)own->operations;
    a[2] = 1 + below(f, 4);
}

static inline void own_message(struct fuzz *f, struct fuzz_ipc *own, uint64_t *a)
{
    own->message.type = (long)below(f, 5);
    a[1] = (uint64_t)&own->message;
    a[2] = below(f, sizeof own->message.text);
    a[3] = below(f, 5) - 2;
}

static inline void own_queue(struct fuzz *f, struct fuzz_ipc *own, uint64_t *a)
{
    memcpy(own->name, "fuzz0", 6);
    own->name[4] = (char)('0' + below(f, 4));
    own->attributes.mq_maxmsg = (long)below(f, 12);
    own->attributes.mq_msgsize = (long)below(f, 64);
    a[0] = (uint64_t)own->name;
    a[1] = O_RDWR | (below(f, 2) ? O_CREAT : 0) | (below(f, 2) ? O_NONBLOCK : 0);
    a[2] = 0600;
    a[3] = below(f, 2) ? (uint64_t)&own->attributes : 0;
}

/* Prepares half of these calls; the others keep their random arguments. */
static inline void ipc_own(struct fuzz *f, struct fuzz_ipc *own, uint64_t number, uint64_t *a)
{
    if (below(f, 2))
        return;
    switch (number) {
    case __NR_shmget:
    case __NR_semget:
    case __NR_msgget:
        a[0] = below(f, 4);
        a[1] = number == __NR_msgget ? IPC_CREAT | 0600 : 1 + below(f, 8);
        a[2] = IPC_CREAT | 0600;
        break;
    case __NR_shmat: /* in the window, or anywhere */
        a[0] = some_object(f, own, __NR_shmctl);
        a[1] = below(f, 2) ? 0 : in_window(f);
        a[2] = below(f, 16) << 12;
        break;
    case __NR_shmctl:
    case __NR_msgctl:
        a[0] = some_object(f, own, number);
        a[1] = below(f, 16);
        break;
    case __NR_semctl:
        a[0] = some_object(f, own, number);
        a[1] = below(f, 5);
        a[2] = below(f, 24);
        break;
    case __NR_semop:
    case __NR_semtimedop:
        a[0] = some_object(f, own, __NR_semctl);
        own_operations(f, own, a);
        break;
    case __NR_msgsnd:
    case __NR_msgrcv:
        a[0] = some_object(f, own, __NR_msgctl);
        own_message(f, own, a);
        break;
    case __NR_mq_open:
    case __NR_mq_unlink:
        own_queue(f, own, a);
        break;
    }
}

/* An attachment replaces nothing outside the window, except by its own choice of an address. */
static inline void tame_attachment(struct fuzz *f, uint64_t number, uint64_t *a)
{
    if (number == __NR_shmat && a[1])
        a[1] = in_window(f);
    if (number == __NR_shmget && a[1] < 1ull << 40)
        a[1] %= WINDOW_BYTES / 4;
}

/* Nothing waits for ever: for a program with one thread. */
static inline void tame_ipc_blocking(uint64_t number, uint64_t *a)
{
    switch (number) {
    case __NR_semop:
        a[2] = 0;
        break;
    case __NR_semtimedop:
        a[3] = (uint64_t)&fuzz_soon;
        break;
    case __NR_msgsnd:
        a[3] |= IPC_NOWAIT;
        break;
    case __NR_msgrcv:
        a[4] |= IPC_NOWAIT;
        break;
    case __NR_mq_timedsend:
    case __NR_mq_timedreceive: /* a time long past */
        a[4] = (uint64_t)&fuzz_soon;
        break;
    }
}

/* A notice is a signal that may end the program, unless it is asked for with our own structure. */
static inline int ipc_allowed(uint64_t number, const uint64_t *a)
{
    return number != __NR_mq_notify || !a[1];
}

static inline void purge_objects(struct fuzz_ipc *own)
{
    char name[] = "fuzz0";

    for (uint64_t i = 0; i < FUZZ_OBJECTS; i++) {
        int64_t shm = object_at(own, __NR_shmctl, i), sem = object_at(own, __NR_semctl, i);
        int64_t msg = object_at(own, __NR_msgctl, i);

        if (shm >= 0)
            call3(__NR_shmctl, (uint64_t)shm, IPC_RMID, 0);
        if (sem >= 0)
            call3(__NR_semctl, (uint64_t)sem, 0, IPC_RMID);
        if (msg >= 0)
            call3(__NR_msgctl, (uint64_t)msg, IPC_RMID, 0);
    }
    for (; name[4] < '4'; name[4]++)
        call3(__NR_mq_unlink, (uint64_t)name, 0, 0);
}
