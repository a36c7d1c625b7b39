/* Executes the instructions of call frame information up to an address.  For
 * host/unwind/unwind_tables.c. */
#pragma once

#include "host/unwind/unwind_bytes.h"
#include "host/unwind/unwind_rule.h"

struct unwind_program { /* the instructions for one stretch of code */
    struct unwind_bytes initial; /* instructions of its CIE */
    struct unwind_bytes own; /* instructions of its FDE */
    uint64_t start; /* start of the code */
    uint64_t code_factor;
    int64_t data_factor;
    uint64_t return_register;
    bool signal;
};

/* Computes the rule at `address`, which must be in the stretch.  Returns false if the instructions
 * cannot be followed. */
bool unwind_row_at(const struct unwind_program *program, uint64_t address,
                   struct unwind_rule *rule);
