/* What the three kinds of System V objects share: identifiers, keys, owners.
 *
 * An identifier is a serial number above the object's index, as in Linux, so one that was removed
 * is not taken for a later object.  Creators and users are numbers of processes: objects outlive
 * the processes that use them.
 *
 * Context: thread, with the kernel lock held. */
#pragma once

#include <linux/ipc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest/base/text.h"
#include "guest/thread/process.h"
#include "guest/thread/thread.h"

#define IPC_INDEX_BITS 15
#define IPC_KEY_BUCKETS 64u
#define IPC_READ 0444u /* what ipc_allowed is asked for */
#define IPC_WRITE 0222u

struct ipc_object { /* the first member of a segment, a set of semaphores, a queue of messages */
    uint32_t key; /* IPC_PRIVATE: none */
    int32_t id;
    uint32_t mode; /* permissions, and bits of the kind */
    uint32_t user, group;
    uint32_t creator_user, creator_group;
    uint64_t changed; /* seconds since 1970 */
    struct ipc_object *next_of_key;
};

/* One kind of object. */
struct ipc_kind {
    uint32_t most; /* objects */
    uint32_t count;
    uint32_t room; /* of `objects`, which grows */
    uint32_t last; /* index that was given last */
    uint32_t serial; /* of the next identifier */
    struct ipc_object **objects; /* by index; NULL: free */
    struct ipc_object *keys[IPC_KEY_BUCKETS];
    /* Makes an object with ipc_add and returns its identifier, or -errno. */
    int64_t (*make)(struct thread *thread, uint32_t key, uint64_t size, uint32_t flags);
    /* Returns 0 if an object that exists has the wanted size, or -EINVAL. */
    int (*check)(const struct ipc_object *object, uint64_t size);
};

/* The core of shmget, semget and msgget: finds the object of a key, or makes one.  Returns its
 * identifier or -errno. */
int64_t ipc_get(struct ipc_kind *kind, struct thread *thread, uint32_t key, uint64_t size,
                uint32_t flags);

/* Gives a new object an index, its identifier, a key and an owner.  Returns its identifier, -ENOSPC
 * or -ENOMEM. */
int64_t ipc_add(struct ipc_kind *kind, struct ipc_object *object, uint32_t key, uint32_t flags);

void ipc_remove(struct ipc_kind *kind, struct ipc_object *object); /* the caller frees it */
void ipc_forget_key(struct ipc_kind *kind, struct ipc_object *object); /* it is private now */

struct ipc_object *ipc_find(const struct ipc_kind *kind, int64_t id); /* NULL: EINVAL */

/* Returns the first object from *index on and sets *index to its index; NULL: there is none. */
struct ipc_object *ipc_next(const struct ipc_kind *kind, uint32_t *index);
int64_t ipc_top(const struct ipc_kind *kind); /* the highest index in use; 0 without objects */

int ipc_allowed(const struct ipc_object *object, uint32_t wanted); /* 0 or -EACCES */

/* Finds the object that a command of shmctl, semctl or msgctl is for: by identifier, or with
 * `by_index` by index, and checks the permission unless `wanted` is 0.  Returns NULL and *error. */
struct ipc_object *ipc_subject(const struct ipc_kind *kind, int64_t id, bool by_index,
                               uint32_t wanted, int *error);

struct ipc64_perm;
void ipc_describe(const struct ipc_object *object, struct ipc64_perm *out);
int ipc_set(struct ipc_object *object, const struct ipc64_perm *wanted); /* 0 or -EINVAL */

uint64_t ipc_now(void); /* seconds since 1970 */

/* Returns whether so much memory of the kernel's can be given to messages: the last part is left to
 * the program. */
bool ipc_memory(uint64_t bytes);

/* guest/ipc/sem_undo.c: call when a process has ended.  What its semops with SEM_UNDO did is
 * undone, unless another process shares its list.  Segments go with its areas. */
void ipc_process_ends(struct process *process);

/* Call when a process is made by clone with CLONE_SYSVSEM: it shares its parent's list.  Returns 0
 * or -ENOMEM. */
int ipc_process_shares(struct process *child, struct process *parent);
