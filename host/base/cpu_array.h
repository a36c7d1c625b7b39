/* A zeroed array with one entry for each possible CPU number; untouched pages take no memory.
 *
 * It is mapped, not allocated: sanitizers write shadow memory for every allocated byte, which took
 * most of the time of short commands.
 */
#pragma once

#include <stddef.h>
#include <sys/mman.h>

#define CPU_ARRAY_ENTRIES 65536u

/* Returns NULL if out of memory. */
static inline void *cpu_array_new(size_t entry_bytes)
{
    void *array = mmap(NULL, CPU_ARRAY_ENTRIES * entry_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return array != MAP_FAILED ? array : NULL;
}

static inline void cpu_array_free(void *array, size_t entry_bytes)
{
    if (array != NULL)
        munmap(array, CPU_ARRAY_ENTRIES * entry_bytes);
}
