/* The memory that the emulator's plugin counts in: include/exact_counts.h.  Never prints. */
#ifndef HOST_LAUNCH_EXACT_MEMORY_H
#define HOST_LAUNCH_EXACT_MEMORY_H

#include "include/exact_counts.h"

struct exact_memory { /* read only, checked */
    const uint8_t *bytes; /* the mapping */
    const struct exact_header *header;
    const struct exact_block *blocks;
    const uint8_t *code;
    const struct exact_cut *cuts;
    const struct exact_edge *edges;
};

/* A file without a name that is all zeros and takes no room yet: its descriptor, or -errno. */
int exact_memory_create(void);

/* Maps what the plugin left, after the emulator has ended.  0; -ENODATA: no plugin was there;
 * -EBADMSG: what it left cannot be; -errno.
 */
int exact_memory_open(struct exact_memory *memory, int fd);
void exact_memory_close(struct exact_memory *memory);

/* A thread's counters, by number of block. */
const struct exact_counter *exact_memory_table(const struct exact_memory *memory, uint32_t thread);

/* The lengths of a block's instructions; their bytes follow. */
static inline const uint8_t *exact_memory_code(const struct exact_memory *memory, uint32_t block)
{
    return memory->code + memory->blocks[block].code;
}

#endif
