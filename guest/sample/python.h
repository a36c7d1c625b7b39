/* Python's frames as the call stacks of samples (hr run --python): when, and for which CPU.
 *
 * run.stacks.kind is HR_STACK_PYTHON then, and samples enter as those with other call stacks do
 * (guest/sample/stack.h).  Without it nothing here runs.
 */
#ifndef GUEST_SAMPLE_PYTHON_H
#define GUEST_SAMPLE_PYTHON_H

#include "guest/cpu/cpu.h"
#include "lib/trace/trace_slot.h"

/* Reads the layout from the manifest.  Boot; panics if it is damaged. */
void python_start(void);

/* Gives a CPU its table of code objects.  Returns 0 or -ENOMEM.  Context: boot. */
int python_add_cpu(uint32_t cpu);

/* Calls the functions below for what is new since the last call, and returns the pid of this CPU's
 * process; set at boot.  It is asked at samples, so that mapping takes no longer than without
 * --python. */
extern uint32_t (*python_look)(void);

/* One at a time: a process has mapped a file to execute, so that its first byte would be at `base`;
 * a process has its parent's memory; a process has ended or executes another program. */
void python_mapped(uint32_t pid, uint64_t base, const char *path, uint32_t path_bytes);
void python_forked(uint32_t pid, uint32_t parent);
void python_gone(uint32_t pid);

/* Fills the stack of a sample.  Context: any. */
void python_take(struct trace_slot_stack *stack, const struct cpu *cpu);

/* A CPU's table; NULL: it has none. */
struct python_codes;
struct python_codes *python_codes_of(uint32_t cpu);

#endif
