/* Signals of the program's one thread, from itself: sent, delivered, returned from.
 * Thread context.  signal_fault() is in guest/syscall.h.
 */
#ifndef GUEST_SIGNAL_H
#define GUEST_SIGNAL_H

#include <stdbool.h>

#include "guest/cpu.h"
#include "guest/thread.h"

#define SIGNAL_BIT(signal) (1ull << ((signal)-1))

/* Marks a signal (1..64) pending; delivery happens in signal_deliver.  An ignored one is dropped.
 */
void signal_send(struct thread *thread, uint32_t signal, int code);

/* True when a pending signal is not blocked. */
bool signal_deliverable(const struct thread *thread);

/* Delivers what is deliverable: changes *frame to enter handlers, or ends the run. */
void signal_deliver(struct thread *thread, struct trap_frame *frame);

/* rt_sigreturn: *frame becomes what the program's signal frame says, or SIGSEGV is raised. */
void signal_return(struct thread *thread, struct trap_frame *frame);

/* Never blocks SIGKILL and SIGSTOP. */
uint64_t signal_mask_of(uint64_t mask);

/* sigaltstack: sets the stack to switch to when `sp` is the stack pointer.  0, -EPERM, -EINVAL,
 * -ENOMEM. */
struct signal_stack;
int signal_set_stack(struct thread *thread, uint64_t sp, const struct signal_stack *stack);
void signal_get_stack(const struct thread *thread, uint64_t sp, struct signal_stack *stack);

#endif
