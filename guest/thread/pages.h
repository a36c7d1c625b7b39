/* Records which pages the program touches (manifest pages=NS): a look at the page tables on a grid
 * of the workload clock, which stands still during a look where it can.
 *
 * A workload CPU looks, not the service CPU: all CPUs that run the program must forget their
 * translations after a look, so they are interrupted anyway, and no page table changes under the
 * kernel lock.  Between the reading of a bit and that flush, another CPU may touch a page once more
 * unseen.  Context: workload CPU, with the kernel lock.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cpu;
struct process;
struct trap_frame;
struct vm_space;

extern uint64_t pages_due; /* workload clock of the next look; CPU_NEVER: there is none */

/* When the program starts. */
void pages_start(void);

/* Looks if that is due at `now` of the workload clock, which stands. */
void pages_attend(struct cpu *cpu, uint64_t now);

/* Records what a process has touched since the last look, when it is about to give its memory
 * up. */
void pages_leave(const struct process *process);

/* Likewise before a fork, which copies the bits: what the parent has touched is not the child's. */
void pages_fork(const struct process *process);

/* Records who touched memory first: `frame` is of a page fault at `address`, which was served.  The
 * workload clock stands. */
void pages_fault(struct cpu *cpu, const struct trap_frame *frame, uint64_t address);

/* Likewise of a page of `space` that the kernel filled for the calling thread, if the space is its
 * own: for a system call, or for a signal's frame. */
void pages_filled(const struct vm_space *space, uint64_t address, bool write);

/* The run ends at `now`: records what all processes have touched since the last look.  No other CPU
 * runs the program. */
void pages_end(struct cpu *cpu, uint64_t now);
