/* The program's own calls (include/hr_abi.h): off the workload clock, and not in the trace as
 * system calls.  Context: workload CPU, system call entry, interrupts off. */
#pragma once

#include "guest/cpu/cpu.h"
#include "guest/sample/sampler.h"

/* Makes the call in `frame`; its result goes to frame->rax. */
void syscall_hr(struct cpu *cpu, struct trap_frame *frame);

/* Pauses or resumes this CPU's trigger as sampler_paused says, with the sample that belongs to it.
 */
void syscall_hr_follow(struct cpu *cpu, uint64_t ip);
