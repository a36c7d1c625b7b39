/* Memory that a program mapped: mmap, munmap, mremap, brk, and System V shared memory.
 *
 * What the kernel maps when a program starts is not in it.  Bounded, and hostile input.  Never
 * prints. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "include/hr_format.h"

#define MEMORY_MAPPED_RANGES_MAX 65536u

enum memory_mapped_kind {
    MEMORY_MAPPED_ANONYMOUS, /* private: arenas of allocators, stacks of threads */
    MEMORY_MAPPED_RESERVED, /* likewise, without access when it was mapped */
    MEMORY_MAPPED_SHARED,
    MEMORY_MAPPED_FILES, /* private */
    MEMORY_MAPPED_HEAP, /* brk */
    MEMORY_MAPPED_KINDS,
};

extern const char *const memory_mapped_name[MEMORY_MAPPED_KINDS];

struct memory_mapped {
    struct memory_mapped_sums {
        uint64_t calls; /* that mapped some */
        uint64_t bytes; /* by these */
        uint64_t live, peak; /* bytes */
    } kinds[MEMORY_MAPPED_KINDS];
    struct memory_mapped_range { /* by pid and start */
        uint64_t start, end;
        uint32_t pid;
        uint32_t kind;
    } * ranges; /* owned */
    size_t count;
    uint64_t refused; /* records that found no room */
};

void memory_mapped_free(struct memory_mapped *mapped);

/* A process ends, or executes another program. */
void memory_mapped_end(struct memory_mapped *mapped, uint32_t pid);

/* Takes a record.  0 or -ENOMEM. */
int memory_mapped_take(struct memory_mapped *mapped, uint32_t pid,
                       const struct hr_rec_mapping *record);
