/* The addresses that are targets of calls, where functions begin.  Never prints. */
#pragma once

#include <stdbool.h>

#include "host/exact/exact_code.h"

struct exact_called { /* a hash set of addresses; 0: free */
    uint64_t *all; /* owned */
    uint32_t count;
    uint32_t bits;
};

/* Collects the addresses from all threads.  Returns 0 or -ENOMEM. */
int exact_called_find(struct exact_called *called, const struct exact_memory *memory,
                      const struct exact_code *code);
bool exact_called_has(const struct exact_called *called, uint64_t address);
void exact_called_free(struct exact_called *called);
