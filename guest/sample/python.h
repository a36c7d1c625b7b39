/* Python's frames as the call stacks of samples (hr run --python): when, and for which CPU.
 *
 * run.stacks.kind is HR_STACK_PYTHON then, and samples enter as those with other call stacks do
 * (guest/sample/stack.h).  Without it nothing here runs.
 */
#ifndef GUEST_SAMPLE_PYTHON_H
#define GUEST_SAMPLE_PYTHON_H

#include "guest/cpu/cpu.h"
#include "lib/trace_slot.h"

/* Reads the layout from the manifest.  Boot; panics if it is damaged. */
void python_start(void);

/* Gives a CPU its table of code objects.  Returns 0 or -ENOMEM.  Context: boot. */
int python_add_cpu(uint32_t cpu);

/* Calls python_mapped for each executable mapping of a file that is new since the last call; set at
 * boot.  It is asked at samples, so that mapping takes no longer than without --python. */
extern void (*python_look)(void);
void python_mapped(uint64_t start, uint64_t file_offset, const char *path, uint32_t path_bytes);

/* Fills the stack of a sample.  Context: any. */
void python_take(struct trace_slot_stack *stack, const struct cpu *cpu);

/* A CPU's table; NULL: it has none. */
struct python_codes;
struct python_codes *python_codes_of(uint32_t cpu);

#endif
