/* The objects that a program's allocator gave out: from an address to the object that holds it.
 *
 * A walk over a trace tells it what happens, in the order of time, and may ask in between: an
 * answer is about the time of what was told last.  Where the chunks of several CPUs come one after
 * another, allocations may be told ahead of an access by up to a chunk; those that are younger than
 * the access are not the answer then.
 *
 * An ordered tree for each process; 64 bytes of memory for each object that is live.  Live objects
 * of a process do not overlap: one that does takes the place of those that it overlaps.  The trace
 * is hostile.  Never prints.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEMORY_OBJECTS_FREED_BITS 16u

struct memory_object {
    uint64_t address;
    uint64_t bytes; /* as the program asked for */
    uint64_t time; /* ticks: when it was allocated */
    uint32_t site; /* number of the place that allocated it (host/heap/memory_sites.h) */
    uint32_t tid; /* that allocated it */
};

struct memory_objects { /* all zero at first */
    struct memory_objects_process *processes; /* owned, as the next ones */
    size_t process_count;
    struct memory_object **blocks; /* of objects, which do not move */
    size_t block_count;
    size_t used; /* objects of the blocks so far */
    struct memory_object *spare; /* freed ones, linked by their address */
    struct memory_objects_freed *freed; /* what was freed last, by hash */
    uint64_t live, live_bytes; /* in all processes */
    uint64_t replaced; /* objects that others took the place of: their end was not seen */
};

void memory_objects_free(struct memory_objects *objects);

/* Tell what happened.  0 or -ENOMEM. */

/* An object begins; `gone` is called for each one that it overlaps. */
int memory_objects_add(struct memory_objects *objects, uint32_t pid,
                       const struct memory_object *object,
                       void (*gone)(void *context, const struct memory_object *object),
                       void *context);

/* A process is copied with its objects; the child has none before. */
int memory_objects_fork(struct memory_objects *objects, uint32_t parent, uint32_t child);

enum memory_objects_end {
    MEMORY_OBJECTS_FREED, /* *object is what it was */
    MEMORY_OBJECTS_UNKNOWN, /* nothing that begins at the address was seen */
    MEMORY_OBJECTS_TWICE, /* it was freed before, and is not seen since */
};

/* An object ends. */
enum memory_objects_end memory_objects_remove(struct memory_objects *objects, uint32_t pid,
                                              uint64_t address, struct memory_object *object);

/* A process ends, or executes another program: calls `each` for its objects, in the order of
 * addresses, and forgets them. */
void memory_objects_end(struct memory_objects *objects, uint32_t pid,
                        void (*each)(void *context, uint32_t pid,
                                     const struct memory_object *object),
                        void *context);

/* Returns the pid of a process that has had objects; there is one. */
uint32_t memory_objects_last(const struct memory_objects *objects);

/* Returns the object of a process that holds an address at a time, or NULL.  Valid until something
 * is told. */
const struct memory_object *memory_objects_find(const struct memory_objects *objects, uint32_t pid,
                                                uint64_t address, uint64_t time);
