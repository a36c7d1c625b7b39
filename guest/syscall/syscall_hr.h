/* The program's own calls (include/hr_abi.h): off the workload clock, and not in the trace as
 * system calls.  Workload CPU, system call entry, interrupts off.
 */
#ifndef GUEST_SYSCALL_SYSCALL_HR_H
#define GUEST_SYSCALL_SYSCALL_HR_H

#include "guest/cpu/cpu.h"
#include "guest/sample/sampler.h"

/* The call in `frame`; its result goes to frame->rax.  False, as trap_syscall() returns it. */
bool syscall_hr(struct cpu *cpu, struct trap_frame *frame);

/* The trigger of this CPU rests or goes on as sampler_paused says, with the sample that belongs to
 * it.
 */
void syscall_hr_follow(struct cpu *cpu, uint64_t ip);

#endif
