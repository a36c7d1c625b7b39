/* Kinds of call stacks by name: as -g and the manifest spell them.  Freestanding. */
#ifndef LIB_STACK_KINDS_H
#define LIB_STACK_KINDS_H

#include <stdbool.h>
#include <stdint.h>

#include "include/hr_format.h"

/* Of an enum hr_stack_kind; NULL for a number that is none. */
const char *stack_kinds_name(uint32_t kind);

/* An enum hr_stack_kind, or 0. */
uint32_t stack_kinds_find(const char *name);

/* What hr_meta_stacks.limit may be. */
bool stack_kinds_limit_ok(uint32_t kind, uint64_t limit);

#endif
