/* The open calls of one thread of an instrumented program (docs/architecture/instrumented.md).
 *
 * Pure code; everything that the program says may be a lie.  A stack gets either entries and
 * returns, or looks at the program's shadow stack.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "include/hr_abi.h"

#define CALL_STACK_MAX HR_ABI_SHADOW_ENTRIES
#define CALL_STACK_NEAR (1u << 20) /* stack pointers farther apart are on different stacks */

struct call_entry {
    uint64_t function;
    uint64_t call_site;
    uint64_t mark; /* told: the stack pointer; observed: the generation, also of ended calls */
    uint64_t note; /* the caller's */
};

#define CALL_STACK_BYTES (CALL_STACK_MAX * sizeof(struct call_entry))

struct call_stack {
    struct call_entry *entries; /* CALL_STACK_MAX, zeroed; the caller's */
    uint32_t depth;
    uint64_t deep; /* open calls that found no room, told by hooks */
    uint64_t strays; /* returns without an entry */
    uint64_t missed; /* calls that began and ended between two looks */
};

/* A call begins at this stack pointer: forgets those that it shows to be left.  Returns its entry,
 * or NULL if there is no room. */
struct call_entry *call_stack_enter(struct call_stack *s, uint64_t function, uint64_t call_site,
                                    uint64_t sp);

/* A call returns.  Stores its entry in *ended, and forgets it and those inside it.  Returns false
 * if there is none: it found no room, or is counted as a stray. */
bool call_stack_leave(struct call_stack *s, uint64_t function, uint64_t call_site, uint64_t sp,
                      struct call_entry *ended);

struct call_stack_visitor {
    void *context;
    /* Returns where an entry of the shadow stack is, or NULL if it cannot be read now. */
    const struct hr_abi_shadow_entry *(*shadow)(void *context, uint32_t depth);
    void (*ended)(void *context, uint32_t depth, struct call_entry *entry);
    void (*begun)(void *context, uint32_t depth, struct call_entry *entry);
};

/* Looks at a shadow stack that its thread may change at the same time, and that has `depth` open
 * calls.  Those that ended since the last look come first, the innermost first of all. */
void call_stack_look(struct call_stack *s, uint32_t depth,
                     const struct call_stack_visitor *visitor);

/* After the last look: counts the calls that no look has seen. */
void call_stack_finish(struct call_stack *s, const struct call_stack_visitor *visitor);
