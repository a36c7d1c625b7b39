/* The program's call stack from its memory: by frame pointers, or as a copy of its top.
 *
 * Pure but for stack_page(), which gives the memory.  Any context, NMIs included: no locks, no
 * allocation, no faults.  Everything that is read is the program's and hostile: a chain of frames
 * ends at the limit at the latest, and no address is used before stack_page() knows it.
 */
#ifndef GUEST_SAMPLE_STACK_WALK_H
#define GUEST_SAMPLE_STACK_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/trace_slot.h"

/* The page of the program's memory that holds `address`, which is below USER_END, in the kernel's
 * address space; NULL when the program could not read it.  guest/sample/stack_page.c, or a test. */
const uint8_t *stack_page(uint64_t address);

/* The program's handlers return to `address`: there the walk goes on with what the signal
 * interrupted.  The first STACK_RESTORERS different ones are known.  Thread context, one CPU at a
 * time. */
#define STACK_RESTORERS 4u
void stack_walk_add_restorer(uint64_t address);

/* Stacks have at most `limit` words, at least 1.  Before all others. */
void stack_walk_start(uint32_t limit);

/* Fills `stack` with what the frames from frame pointer `fp` on say are return addresses; then
 * stack_walk_check.  _behind: after the `used` words that are there already. */
void stack_walk(struct trace_slot_stack *stack, uint64_t fp);
void stack_walk_behind(struct trace_slot_stack *stack, uint32_t used, uint64_t fp);

/* Ends a stack before the first word that cannot be a return address: the walk takes what it finds,
 * because it is the program that waits for it.  `kernel`: it begins with addresses of the kernel's.
 */
void stack_walk_check(struct trace_slot_stack *stack, bool kernel);

/* Copies memory from `sp` on behind the registers: at most `limit` bytes, a multiple of 8. */
void stack_walk_copy(struct trace_slot_stack *stack, uint32_t limit, uint64_t sp);

#endif
