/* An entry for each number that a CPU may have, zeroed; pages that nobody touches cost nothing.
 *
 * Mapped, not allocated: sanitizers touch their notes of every byte that is allocated, which was
 * most of what short commands did under them.
 */
#ifndef HOST_BASE_CPU_ARRAY_H
#define HOST_BASE_CPU_ARRAY_H

#include <stddef.h>
#include <sys/mman.h>

#define CPU_ARRAY_ENTRIES 65536u

/* NULL: out of memory. */
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

#endif
