/* The memory in which the emulator's plugin counts: include/exact_counts.h.  Never prints. */
#pragma once

#include "include/exact_counts.h"

struct exact_memory { /* read only; checked */
    const uint8_t *bytes; /* the mapping */
    const struct exact_header *header;
    const struct exact_block *blocks;
    const uint8_t *code;
    const struct exact_cut *cuts;
    const struct exact_edge *edges;
};

/* Creates a file without a name, all zeros, that takes no room yet.  Returns its descriptor, or
 * -errno. */
int exact_memory_create(void);

/* Maps the plugin's results after the emulator has ended.  Returns 0; -ENODATA: there was no
 * plugin; -EBADMSG: the results are invalid; -errno. */
int exact_memory_open(struct exact_memory *memory, int fd);
void exact_memory_close(struct exact_memory *memory);

/* Returns a thread's counters, by number of block. */
const struct exact_counter *exact_memory_table(const struct exact_memory *memory, uint32_t thread);

/* Returns the lengths of a block's instructions; their bytes follow. */
static inline const uint8_t *exact_memory_code(const struct exact_memory *memory, uint32_t block)
{
    return memory->code + memory->blocks[block].code;
}
