/* Call stacks of samples (hr run -g): what a slot has of them.  run.stacks says which kind.
 *
 * With stacks, entries from ring 3 by interrupts and NMIs are others (guest/syscall/entry.S): they
 * save all registers, as system calls and exceptions do, so that the program's are in one place
 * whatever it was that it entered the kernel by.  Any context; guest/sample/stack_page.c says why
 * that is safe.
 */
#ifndef GUEST_SAMPLE_STACK_H
#define GUEST_SAMPLE_STACK_H

#include "guest/base/run.h"
#include "guest/cpu/cpu.h"
#include "guest/sample/stack_walk.h"
#include "lib/trace_slot.h"

struct ring;
struct trace_writer;

/* Gives the slots of a ring, or of a writer of its samples, their stacks; does nothing where
 * samples have none.  Their memory is beside all other, so that stacks change nothing in how the
 * program gets its own, and take none of its time.  Boot.  0, -ENOMEM. */
int stack_add_to_ring(struct ring *ring);
int stack_add_to_writer(struct trace_writer *writer);

/* The program's registers at the last entry from ring 3 on this CPU; NULL without stacks. */
static inline const struct trap_frame *stack_frame(const struct cpu *cpu)
{
    if (__builtin_expect(run.stacks.kind == 0, 1))
        return NULL;
    return (const struct trap_frame *)cpu->kernel_stack_top - 1;
}

/* Where it is in a slot. */
extern uint32_t stack_offset;

static inline struct trace_slot_stack *stack_of(struct trace_slot *slot)
{
    return (struct trace_slot_stack *)(void *)((uint8_t *)slot + stack_offset);
}

/* Of the kind that is a copy. */
void stack_copy(struct trace_slot_stack *stack, const struct trap_frame *frame);

/* The stack of a sample in ring 3, or at the return to it. */
static inline void stack_take(struct trace_slot *slot, const struct trap_frame *frame)
{
    if (__builtin_expect(run.stacks.kind == HR_STACK_FP, 1))
        stack_walk(stack_of(slot), frame->rbp);
    else
        stack_copy(stack_of(slot), frame);
}

/* Service context, before the sample is encoded: ends the stack where it is no stack any more. */
void stack_check(struct trace_slot *slot);

/* The same of the thread's entry into the kernel, for a sample in ring 0: first the kernel's own
 * frames, if they are taken by frame pointers; `fp` is the one that the NMI found. */
void stack_take_kernel(struct trace_slot *slot, const struct cpu *cpu,
                       const struct irq_frame *frame, uint64_t fp);

#endif
