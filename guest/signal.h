/* Signals of the program from itself: sent to a thread or the process, delivered, returned from.
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

/* The same for the process: a thread that does not block it takes it. */
void signal_send_process(struct thread *sender, uint32_t signal, int code);

/* Signals pending for the thread, its process's included. */
uint64_t signal_pending(const struct thread *thread);

/* Takes one off what is pending: its si_code. */
int signal_take(struct thread *thread, uint32_t signal);

/* True when a pending signal is not blocked. */
bool signal_deliverable(const struct thread *thread);

/* The same, or it is one that the thread waits for. */
bool signal_waits_for(const struct thread *thread);

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
