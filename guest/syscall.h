/* System calls: Linux's x86-64 interface; docs/abi.md says how much of it. */
#ifndef GUEST_SYSCALL_H
#define GUEST_SYSCALL_H

#include "guest/cpu.h"
#include "guest/thread.h"

/* Called by guest/entry.S through traps.c with interrupts off.  frame->rax is the number; the
 * result goes to frame->rax.  An unknown number returns -ENOSYS and is counted: guest/refused.h.
 */
void syscall_dispatch(struct thread *thread, struct trap_frame *frame);

/* A synchronous fault of the program: delivers the signal to its handler, or ends the run when
 * there is none or it is blocked.  code and address: si_code and si_addr.
 */
void signal_fault(struct thread *thread, struct trap_frame *frame, uint32_t signal, int code,
                  uint64_t address);

#endif
