/* What exceptions and system calls share: signals for faults.  guest/syscall/syscall.c makes the
 * calls. */
#ifndef GUEST_SYSCALL_SYSCALL_H
#define GUEST_SYSCALL_SYSCALL_H

#include "guest/cpu/cpu.h"
#include "guest/thread/thread.h"

/* A synchronous fault of the program: delivers the signal to its handler, or ends the run when
 * there is none or it is blocked.  code and address: si_code and si_addr.
 */
void signal_fault(struct thread *thread, struct trap_frame *frame, uint32_t signal, int code,
                  uint64_t address);

#endif
