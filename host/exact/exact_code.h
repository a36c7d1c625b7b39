/* Decodes the instructions of the plugin's blocks.  Never prints. */
#pragma once

#include "host/launch/exact_memory.h"

enum { /* kinds of an instruction */
       EXACT_IS_BRANCH = 1,
       EXACT_IS_CONDITIONAL = 2, /* a branch that may not be taken */
       EXACT_IS_CALL = 4,
       EXACT_LOADS = 8,
       EXACT_STORES = 16,
       EXACT_REPEATS = 32, /* a string instruction that ends by its count: its last execution
                              accesses nothing */
       EXACT_IS_LINK = 64, /* a jump by a slot outside the code, as in a procedure linkage table */
};

struct exact_code {
    uint8_t *kinds; /* indexed by the offset of an instruction's length in the code; owned */
    uint64_t *targets; /* direct target of each block's last instruction; else 0; owned */
};

/* Decodes every block.  Returns 0 or -ENOMEM. */
int exact_code_read(struct exact_code *code, const struct exact_memory *memory);
void exact_code_free(struct exact_code *code);

/* Returns the kinds of a block's last instruction. */
static inline uint8_t exact_code_last(const struct exact_code *code,
                                      const struct exact_memory *memory, uint32_t block)
{
    return code->kinds[memory->blocks[block].code + memory->blocks[block].instructions - 1];
}
