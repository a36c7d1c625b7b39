/* What lies at the addresses of data that a program accesses: global objects, files, stacks, the
 * heap.
 *
 * A *key* stands for a thing, the same wherever it is found; memory_names_text() gives its name.
 * Global objects of one file are the same thing in all processes.  Of memory without a name, each
 * block of MEMORY_BLOCK_BYTES is a thing.  Any number of threads may look up addresses at once,
 * each with a cursor of its own.  The trace and its files are hostile: tables are bounded.  Never
 * prints.
 */
#pragma once

#include <pthread.h>

#include "host/heap/memory_heap.h"
#include "host/symbols/symbols_globals.h"

#define MEMORY_BLOCK_BYTES 65536u
#define MEMORY_NAME_BYTES 640

enum memory_kind {
    MEMORY_NOWHERE, /* what found no room */
    MEMORY_VARIABLE, /* a global object */
    MEMORY_IN_FILE, /* elsewhere in a file */
    MEMORY_SITE, /* objects of the heap, of one place that allocated them */
    MEMORY_STACK, /* of a thread */
    MEMORY_BREAK, /* after the program: what brk gives */
    MEMORY_OTHER,
    MEMORY_KERNEL,
};

struct memory_thing {
    uint64_t key;
    uint64_t start; /* where it begins in the process; of other memory 0 */
    uint64_t birth; /* when it was allocated; 0: it is no object of the heap */
};

struct memory_names {
    const struct trace_info *info;
    struct symbols *symbols;
    /* Of allocations, told up to the time of each access; then one thread looks up addresses. NULL:
     * the trace has none. */
    const struct memory_heap *heap;
    const struct stacks *stacks; /* of its sites */
    struct memory_stack *threads; /* the stacks of threads, by address; owned */
    size_t thread_count;
    struct memory_space *spaces; /* of the processes' spaces (host/trace/trace_spaces.h); owned */
    size_t space_count;
    uint64_t area_count; /* in all spaces */
    pthread_mutex_t lock;
};

struct memory_cursor {
    struct memory_names *names;
    const struct memory_space *space;
    const struct memory_area *area; /* of the address before */
    uint32_t tid, pid, process;
    uint64_t from, until; /* times to which this applies */
};

/* `info` and `symbols` must outlive it.  0 or -ENOMEM. */
int memory_names_open(struct memory_names *names, const struct trace_info *info,
                      struct symbols *symbols);
void memory_names_close(struct memory_names *names);

/* From now on objects of the heap have names.  Both must outlive the names. */
void memory_names_heap(struct memory_names *names, const struct memory_heap *heap,
                       const struct stacks *stacks);

void memory_names_begin(struct memory_names *names, struct memory_cursor *cursor);

/* The cursor looks up addresses of a thread at a time from now on. */
void memory_names_at(struct memory_cursor *cursor, uint32_t tid, uint64_t time);
struct memory_thing memory_names_find(struct memory_cursor *cursor, uint64_t address,
                                      uint64_t time);

static inline enum memory_kind memory_names_kind(uint64_t key)
{
    return (enum memory_kind)(key >> 60);
}

/* The key of the objects of a site. */
uint64_t memory_names_site(uint32_t site);

/* Whether two things, in the order of keys, are one object: they are the same, or other memory of
 * one process close to each other. */
bool memory_names_join(uint64_t before, uint64_t key);

/* Writes the name of a thing, and returns `text`: "table", "libc.so.6", "[heap]", "[stack of thread
 * 1001]".  Raw. */
char *memory_names_text(struct memory_names *names, uint64_t key, char text[MEMORY_NAME_BYTES]);

/* Likewise of what lies `offset` bytes after its start: "table[12].next", "[heap]+0x40". */
char *memory_names_part(struct memory_names *names, uint64_t key, uint64_t offset,
                        char text[MEMORY_NAME_BYTES]);
