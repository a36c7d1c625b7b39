/* System V objects of any kind: tables of them, keys, permissions. */
#include "guest/ipc/ipc.h"

#include <errno.h>
#include <string.h>

#include "guest/base/context.h"
#include "guest/memory/heap.h"
#include "guest/memory/phys.h"
#include "guest/vm/inode.h"

#define INDEX_MASK ((1u << IPC_INDEX_BITS) - 1)
#define SERIAL_END (1u << (31 - IPC_INDEX_BITS))
#define PERMISSIONS 0777u
#define ROOM_FIRST 64u /* objects */
#define CYCLE_LEAST 64u /* indices used before one is used again */
#define KEPT_SHARE 64u /* of memory, for the program */
#define NS_PER_S 1000000000ull
#define NO_ID UINT32_MAX

uint64_t ipc_now(void)
{
    return inode_now() / NS_PER_S;
}

bool ipc_memory(uint64_t bytes)
{
    return phys_free_bytes() >= phys_total_bytes() / KEPT_SHARE + bytes;
}

static struct ipc_object **bucket_of(struct ipc_kind *kind, uint32_t key)
{
    return &kind->keys[(key ^ key >> 8 ^ key >> 16 ^ key >> 24) % IPC_KEY_BUCKETS];
}

static struct ipc_object *find_key(struct ipc_kind *kind, uint32_t key)
{
    struct ipc_object *object = *bucket_of(kind, key);

    while (object != NULL && object->key != key)
        object = object->next_of_key;
    return object;
}

void ipc_forget_key(struct ipc_kind *kind, struct ipc_object *object)
{
    struct ipc_object **link = bucket_of(kind, object->key);

    if (object->key == IPC_PRIVATE)
        return;
    while (*link != object)
        link = &(*link)->next_of_key;
    *link = object->next_of_key;
    object->key = IPC_PRIVATE;
}

/* Makes the table hold index `index`.  Returns 0 or -ENOMEM. */
static int make_room(struct ipc_kind *kind, uint32_t index)
{
    uint32_t room = kind->room ? kind->room : ROOM_FIRST;
    struct ipc_object **objects;

    while (room <= index)
        room *= 2;
    if (room == kind->room)
        return 0;
    objects = heap_alloc(room * sizeof(struct ipc_object *));
    if (objects == NULL)
        return -ENOMEM;
    if (kind->room)
        memcpy(objects, kind->objects, kind->room * sizeof(struct ipc_object *));
    heap_free(kind->objects, kind->room * sizeof(struct ipc_object *));
    kind->objects = objects;
    kind->room = room;
    return 0;
}

/* Chooses a free index as Linux does: the next one of a cycle that is half as long again as there
 * are objects. */
static uint32_t choose_index(const struct ipc_kind *kind)
{
    uint32_t cycle = kind->count * 3 / 2, index = kind->last;

    cycle = cycle < CYCLE_LEAST ? CYCLE_LEAST : cycle;
    cycle = cycle < kind->most ? cycle : kind->most;
    for (uint32_t tried = 0; tried < cycle; tried++) {
        if (index >= cycle)
            index = 0;
        if (index >= kind->room || kind->objects[index] == NULL)
            return index;
        index++;
    }
    return index;
}

int64_t ipc_add(struct ipc_kind *kind, struct ipc_object *object, uint32_t key, uint32_t flags)
{
    uint32_t index;

    cross_assert_held();
    if (kind->count >= kind->most)
        return -ENOSPC;
    index = choose_index(kind);
    if (make_room(kind, index) != 0)
        return -ENOMEM;
    if (index < kind->last) /* the cycle began again */
        kind->serial = (kind->serial + 1) % SERIAL_END;
    kind->last = index + 1;
    kind->objects[index] = object;
    kind->count++;
    object->id = (int32_t)(kind->serial << IPC_INDEX_BITS | index);
    object->key = key;
    object->mode = flags & PERMISSIONS;
    object->user = object->creator_user = PROCESS_USER_ID;
    object->group = object->creator_group = PROCESS_USER_ID;
    object->changed = ipc_now();
    if (key != IPC_PRIVATE) {
        struct ipc_object **bucket = bucket_of(kind, key);

        object->next_of_key = *bucket;
        *bucket = object;
    }
    return object->id;
}

void ipc_remove(struct ipc_kind *kind, struct ipc_object *object)
{
    cross_assert_held();
    ipc_forget_key(kind, object);
    kind->objects[(uint32_t)object->id & INDEX_MASK] = NULL;
    kind->count--;
}

/* Returns the object at an index, whatever the identifier's serial number is; NULL: EINVAL. */
static struct ipc_object *ipc_at(const struct ipc_kind *kind, int64_t index)
{
    uint32_t place = (uint32_t)index & INDEX_MASK;

    return (int32_t)index >= 0 && place < kind->room ? kind->objects[place] : NULL;
}

struct ipc_object *ipc_find(const struct ipc_kind *kind, int64_t id)
{
    struct ipc_object *object = ipc_at(kind, id);

    return object != NULL && object->id == (int32_t)id ? object : NULL;
}

struct ipc_object *ipc_next(const struct ipc_kind *kind, uint32_t *index)
{
    while (*index < kind->room && kind->objects[*index] == NULL)
        ++*index;
    return *index < kind->room ? kind->objects[*index] : NULL;
}

int64_t ipc_top(const struct ipc_kind *kind)
{
    uint32_t top = kind->room;

    while (top && kind->objects[top - 1] == NULL)
        top--;
    return top ? top - 1 : 0;
}

/* The one user made every object, so the owner's bits count. */
int ipc_allowed(const struct ipc_object *object, uint32_t wanted)
{
    uint32_t asked = (wanted >> 6 | wanted >> 3 | wanted) & 7;

    return asked & ~(object->mode >> 6) ? -EACCES : 0;
}

struct ipc_object *ipc_subject(const struct ipc_kind *kind, int64_t id, bool by_index,
                               uint32_t wanted, int *error)
{
    struct ipc_object *object = by_index ? ipc_at(kind, id) : ipc_find(kind, id);

    *error = object == NULL ? -EINVAL : ipc_allowed(object, wanted);
    return *error ? NULL : object;
}

int64_t ipc_get(struct ipc_kind *kind, struct thread *thread, uint32_t key, uint64_t size,
                uint32_t flags)
{
    const struct ipc_object *object = key != IPC_PRIVATE ? find_key(kind, key) : NULL;
    int error;

    cross_assert_held();
    if (object == NULL) {
        if (key != IPC_PRIVATE && !(flags & IPC_CREAT))
            return -ENOENT;
        return kind->make(thread, key, size, flags);
    }
    if (flags & IPC_CREAT && flags & IPC_EXCL)
        return -EEXIST;
    error = kind->check != NULL ? kind->check(object, size) : 0;
    if (!error)
        error = ipc_allowed(object, flags);
    return error ? error : object->id;
}

void ipc_describe(const struct ipc_object *object, struct ipc64_perm *out)
{
    *out = (struct ipc64_perm){.key = (int32_t)object->key,
                               .uid = object->user,
                               .gid = object->group,
                               .cuid = object->creator_user,
                               .cgid = object->creator_group,
                               .mode = object->mode,
                               .seq = (uint16_t)((uint32_t)object->id >> IPC_INDEX_BITS)};
}

int ipc_set(struct ipc_object *object, const struct ipc64_perm *wanted)
{
    if (wanted->uid == NO_ID || wanted->gid == NO_ID)
        return -EINVAL;
    object->user = wanted->uid;
    object->group = wanted->gid;
    object->mode = (object->mode & ~PERMISSIONS) | (wanted->mode & PERMISSIONS);
    object->changed = ipc_now();
    return 0;
}
