/* The program's call stack from its memory: by frame pointers, or as a copy of its top.
 *
 * Pure but for stack_page(), which gives the memory.  Takes no locks, allocates nothing and cannot
 * fault.  All memory read is the program's and hostile: a chain of frames ends at the limit at the
 * latest, and no address is used before stack_page() accepts it.  Context: any, NMIs included.
 */
#ifndef GUEST_SAMPLE_STACK_WALK_H
#define GUEST_SAMPLE_STACK_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/cpu/cpu.h"
#include "lib/trace/trace_slot.h"

/* Returns the kernel's address of the page of the program's memory that holds `address`, which is
 * below USER_END; NULL if the program could not read it.  Defined in guest/sample/stack_page.c, or
 * in a test. */
const uint8_t *stack_page(uint64_t address);

/* Notes that the program's signal handlers return to `address`: there the walk continues with the
 * interrupted code.  Keeps the first STACK_RESTORERS different addresses.  Context: thread, one CPU
 * at a time. */
#define STACK_RESTORERS 4u
void stack_walk_add_restorer(uint64_t address);

/* Sets the most words of a stack, at least 1.  Called before all other functions. */
void stack_walk_start(uint32_t limit);

/* Fills `stack` with the return addresses of the frames from frame pointer `fp` on;
 * stack_walk_check must follow, and puts them in order.  The second function appends to the `used`
 * words that are there already.  The first one keeps in cpu->frames where the first frame's page
 * is, because it mostly is that of the stack before: what flushes a CPU's translations or gives it
 * other page tables clears that.  So its context is any but an NMI in ring 0, which may come
 * between a change of the tables and the flush, or amid a walk. */
void stack_walk(struct trace_slot_stack *stack, uint64_t fp, struct cpu *cpu);
void stack_walk_behind(struct trace_slot_stack *stack, uint32_t used, uint64_t fp);

/* For guest/sample/stack_check.c: the most words of a stack; and until stack_walk_check, what is
 * above so many bits of the root says how many words stack_frames has pushed. */
extern uint32_t stack_walk_words;
#define STACK_ROOT_BITS 8

/* For guest/sample/stack_frames.S: where the room for a stack ends, after its word STACK_STEP; 0:
 * it may not be used.  stack_walk_rest does what stack_frames could not, which returned last and
 * next.
 */
extern uint64_t stack_frames_top;
void stack_walk_rest(struct trace_slot_stack *stack, uint64_t fp, struct cpu *cpu, uint64_t last,
                     uint64_t next);

/* Cuts a stack off before the first word that cannot be a return address.  The walk does not check
 * this itself, because the program waits for it.  `kernel`: the stack begins with kernel addresses.
 */
void stack_walk_check(struct trace_slot_stack *stack, bool kernel);

/* Copies memory from `sp` on, at most `limit` bytes (a multiple of 8), to after the registers. */
void stack_walk_copy(struct trace_slot_stack *stack, uint32_t limit, uint64_t sp);

#endif
