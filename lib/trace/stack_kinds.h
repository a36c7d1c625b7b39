/* The names of kinds of call stacks, as -g and the manifest spell them.  Freestanding. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "include/hr_format.h"

/* Returns the name of an enum hr_stack_kind, or NULL if `kind` is not one. */
const char *stack_kinds_name(uint32_t kind);

/* Returns an enum hr_stack_kind, or 0 if there is none of that name. */
uint32_t stack_kinds_find(const char *name);

/* Returns whether stacks of this kind are chains of addresses (lib/trace/trace_chains.h), not
 * copies. */
bool stack_kinds_chains(uint32_t kind);

/* Returns whether hr_meta_stacks.limit may have this value. */
bool stack_kinds_limit_ok(uint32_t kind, uint64_t limit);
