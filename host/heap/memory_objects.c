/* Keeps objects in a search tree for each process, ordered by address. */
#include "host/heap/memory_objects.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>

#include "host/base/array.h"
#include "lib/hash.h"

#define BLOCK_OBJECTS 4096u

struct memory_objects_process {
    uint32_t pid;
    void *tree; /* tsearch(3): of objects */
    const struct memory_object *found; /* the last answer, if it is live */
};

struct memory_objects_freed {
    uint64_t address;
    uint32_t pid;
};

/* Objects that overlap compare equal.  One without bytes takes one. */
static int by_place(const void *a, const void *b)
{
    const struct memory_object *x = a, *y = b;

    if (y->address >= x->address)
        return y->address - x->address < (x->bytes != 0 ? x->bytes : 1) ? 0 : -1;
    return x->address - y->address < (y->bytes != 0 ? y->bytes : 1) ? 0 : 1;
}

static void forget_nothing(void *object)
{
    (void)object;
}

void memory_objects_free(struct memory_objects *objects)
{
    for (size_t i = 0; i < objects->process_count; i++)
        tdestroy(objects->processes[i].tree, forget_nothing);
    for (size_t i = 0; i < objects->block_count; i++)
        free(objects->blocks[i]);
    free(objects->processes);
    free(objects->blocks);
    free(objects->freed);
    *objects = (struct memory_objects){0};
}

static struct memory_objects_process *find_process(const struct memory_objects *objects,
                                                   uint32_t pid)
{
    for (size_t i = objects->process_count; i-- != 0;)
        if (objects->processes[i].pid == pid)
            return &objects->processes[i];
    return NULL;
}

static struct memory_objects_process *get_process(struct memory_objects *objects, uint32_t pid)
{
    struct memory_objects_process *process = find_process(objects, pid);

    if (process != NULL)
        return process;
    if (array_grow(&objects->processes, objects->process_count, sizeof *process) != 0)
        return NULL;
    process = &objects->processes[objects->process_count++];
    *process = (struct memory_objects_process){.pid = pid};
    return process;
}

/* Returns room for an object, or NULL. */
static struct memory_object *take(struct memory_objects *objects)
{
    struct memory_object *object = objects->spare;

    if (object != NULL) {
        objects->spare = (struct memory_object *)object->address;
        return object;
    }
    if (objects->used == objects->block_count * BLOCK_OBJECTS) {
        if (array_grow(&objects->blocks, objects->block_count, sizeof(void *)) != 0)
            return NULL;
        objects->blocks[objects->block_count] = malloc(BLOCK_OBJECTS * sizeof *object);
        if (objects->blocks[objects->block_count] == NULL)
            return NULL;
        objects->block_count++;
    }
    object = &objects->blocks[objects->used / BLOCK_OBJECTS][objects->used % BLOCK_OBJECTS];
    objects->used++;
    return object;
}

static void put_back(struct memory_objects *objects, struct memory_object *object)
{
    objects->live--;
    objects->live_bytes -= object->bytes;
    object->address = (uint64_t)objects->spare;
    objects->spare = object;
}

/* Where it is noted that an address was freed last; NULL without memory. */
static struct memory_objects_freed *freed_at(struct memory_objects *objects, uint32_t pid,
                                             uint64_t address)
{
    if (objects->freed == NULL)
        objects->freed = calloc((size_t)1 << MEMORY_OBJECTS_FREED_BITS, sizeof objects->freed[0]);
    return objects->freed == NULL
               ? NULL
               : &objects->freed[hash_place(hash_add(address, pid), MEMORY_OBJECTS_FREED_BITS)];
}

/* Told of objects that another one takes the place of. */
struct going {
    void (*gone)(void *context, const struct memory_object *object);
    void *context;
};

static int add_to(struct memory_objects *objects, struct memory_objects_process *process,
                  const struct memory_object *object, const struct going *going)
{
    struct memory_object *added = take(objects), **found;

    if (added == NULL)
        return -ENOMEM;
    *added = *object;
    objects->live++;
    objects->live_bytes += added->bytes;
    while ((found = tsearch(added, &process->tree, by_place)) != NULL && *found != added) {
        struct memory_object *older = *found;

        going->gone(going->context, older);
        process->found = NULL;
        tdelete(older, &process->tree, by_place);
        put_back(objects, older);
        objects->replaced++;
    }
    if (found != NULL)
        return 0;
    put_back(objects, added);
    return -ENOMEM;
}

int memory_objects_add(struct memory_objects *objects, uint32_t pid,
                       const struct memory_object *object,
                       void (*gone)(void *context, const struct memory_object *object),
                       void *context)
{
    struct memory_objects_process *process = get_process(objects, pid);
    const struct going going = {gone, context};
    struct memory_object fits = *object;
    struct memory_objects_freed *freed;

    if (process == NULL)
        return -ENOMEM;
    if (fits.bytes > UINT64_MAX - fits.address)
        fits.bytes = UINT64_MAX - fits.address;
    freed = freed_at(objects, pid, object->address);
    if (freed != NULL && freed->address == object->address && freed->pid == pid)
        freed->address = 0;
    return add_to(objects, process, &fits, &going);
}

struct copying {
    struct memory_objects *objects;
    struct memory_objects_process *child;
    int error;
};

static void copy_one(const void *node, VISIT visit, void *context)
{
    struct copying *copying = context;

    if ((visit == postorder || visit == leaf) && copying->error == 0)
        copying->error =
            add_to(copying->objects, copying->child, *(struct memory_object *const *)node, NULL);
}

int memory_objects_fork(struct memory_objects *objects, uint32_t parent, uint32_t child)
{
    struct copying copying = {.objects = objects, .child = get_process(objects, child)};
    const struct memory_objects_process *from = find_process(objects, parent);

    if (copying.child == NULL)
        return -ENOMEM;
    if (from == NULL || copying.child->tree != NULL || parent == child)
        return 0;
    twalk_r(from->tree, copy_one, &copying);
    return copying.error;
}

enum memory_objects_end memory_objects_remove(struct memory_objects *objects, uint32_t pid,
                                              uint64_t address, struct memory_object *object)
{
    struct memory_objects_process *process = find_process(objects, pid);
    struct memory_objects_freed *freed = freed_at(objects, pid, address);
    const struct memory_object at = {.address = address};
    struct memory_object **found = process != NULL ? tfind(&at, &process->tree, by_place) : NULL,
                         *known;

    if (found == NULL || (*found)->address != address)
        return freed != NULL && freed->address == address && freed->pid == pid && address != 0
                   ? MEMORY_OBJECTS_TWICE
                   : MEMORY_OBJECTS_UNKNOWN;
    known = *found;
    *object = *known;
    process->found = NULL;
    tdelete(known, &process->tree, by_place);
    put_back(objects, known);
    if (freed != NULL)
        *freed = (struct memory_objects_freed){address, pid};
    return MEMORY_OBJECTS_FREED;
}

struct ending {
    struct memory_objects *objects;
    uint32_t pid;
    void (*each)(void *context, uint32_t pid, const struct memory_object *object);
    void *context;
};

static void end_one(const void *node, VISIT visit, void *context)
{
    const struct ending *ending = context;

    if (visit == postorder || visit == leaf)
        ending->each(ending->context, ending->pid, *(struct memory_object *const *)node);
}

static void forget_one(const void *node, VISIT visit, void *context)
{
    if (visit == postorder || visit == leaf)
        put_back(context, *(struct memory_object *const *)node);
}

void memory_objects_end(struct memory_objects *objects, uint32_t pid,
                        void (*each)(void *context, uint32_t pid,
                                     const struct memory_object *object),
                        void *context)
{
    struct memory_objects_process *process = find_process(objects, pid);
    struct ending ending = {objects, pid, each, context};

    if (process == NULL)
        return;
    twalk_r(process->tree, end_one, &ending);
    twalk_r(process->tree, forget_one, objects);
    tdestroy(process->tree, forget_nothing);
    *process = objects->processes[--objects->process_count];
}

const struct memory_object *memory_objects_find(const struct memory_objects *objects, uint32_t pid,
                                                uint64_t address, uint64_t time)
{
    struct memory_objects_process *process = find_process(objects, pid);
    const struct memory_object at = {.address = address};
    struct memory_object *const *found;

    if (process == NULL)
        return NULL;
    if (process->found == NULL || by_place(&at, process->found) != 0) {
        found = tfind(&at, &process->tree, by_place);
        if (found == NULL)
            return NULL;
        process->found = *found;
    }
    return process->found->time <= time ? process->found : NULL;
}

uint32_t memory_objects_last(const struct memory_objects *objects)
{
    return objects->processes[objects->process_count - 1].pid;
}
