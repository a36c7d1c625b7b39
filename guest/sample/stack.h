/* Call stacks of samples (hr run -g): their part of a slot.  run.stacks says which kind.
 *
 * With stacks, interrupts and NMIs enter from ring 3 by other code (guest/syscall/entry_*.S) that
 * saves all registers, as system calls and exceptions do.  So the program's registers are in one
 * place after every kind of entry.  Context: any; guest/sample/stack_page.c says why that is safe.
 */
#ifndef GUEST_SAMPLE_STACK_H
#define GUEST_SAMPLE_STACK_H

#include "guest/base/run.h"
#include "guest/cpu/cpu.h"
#include "guest/sample/stack_walk.h"
#include "lib/trace/trace_slot.h"

struct ring;
struct trace_writer;

/* Adds stacks to the slots of a ring, or to a writer of its samples; does nothing if samples have
 * none.  Their memory is apart from all other, so that stacks do not change which memory the
 * program gets, nor how fast.  Returns 0 or -ENOMEM.  Context: boot. */
int stack_add_to_ring(struct ring *ring);
int stack_add_to_writer(struct trace_writer *writer);

/* Returns the program's registers at the last entry from ring 3 on this CPU; NULL without stacks.
 */
static inline const struct trap_frame *stack_frame(const struct cpu *cpu)
{
    if (__builtin_expect(run.stacks.kind == 0, 1))
        return NULL;
    return (const struct trap_frame *)cpu->kernel_stack_top - 1;
}

/* The stack's offset in a slot. */
extern uint32_t stack_offset;

static inline struct trace_slot_stack *stack_of(struct trace_slot *slot)
{
    return (struct trace_slot_stack *)(void *)((uint8_t *)slot + stack_offset);
}

/* Fills a stack of another kind than HR_STACK_FP: registers and a copy of the stack's top, or
 * Python's frames.  Set when the stacks are added to the first ring. */
extern void (*stack_other)(struct trace_slot_stack *stack, const struct trap_frame *frame);

/* Takes the stack of a sample in ring 3, or at the return to it, on this CPU.  Context: any but an
 * NMI in ring 0. */
static inline void stack_take(struct cpu *cpu, struct trace_slot *slot,
                              const struct trap_frame *frame)
{
    if (__builtin_expect(run.stacks.kind == HR_STACK_FP, 1))
        stack_walk(stack_of(slot), frame->rbp, cpu);
    else
        stack_other(stack_of(slot), frame);
}

/* As stack_take, where the sample's ip is an earlier one: the place of rcx says what ip the stack
 * belongs to (HR_ACCESSES_LATER). */
void stack_take_later(struct cpu *cpu, struct trace_slot *slot, const struct trap_frame *frame);

/* A sample has no stack. */
void stack_take_none(struct trace_slot *slot);

/* Service context, before the sample is encoded: cuts the stack off where it stops being plausible.
 */
void stack_check(struct trace_slot *slot);

/* Takes the stack of a sample in ring 0: the kernel's own frames (frame pointers only), then the
 * program's at its entry into the kernel.  `fp` is the frame pointer that the NMI found. */
void stack_take_kernel(struct trace_slot *slot, const struct cpu *cpu,
                       const struct irq_frame *frame, uint64_t fp);

#endif
