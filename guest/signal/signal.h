/* Signals of the program from itself: sent to a thread or the process, delivered, returned from.
 * Thread context, by the kernel lock's holder.  signal_fault() is in guest/signal/signal_deliver.c.
 *
 * What is sent to the process waits in the process's queue until a thread takes it.  One that does
 * not block it is chosen and told to look, and the others leave it alone, as on Linux: programs
 * count on it that the first thread is interrupted.  If it blocks the signal before it has looked,
 * or ends, another one is told.
 */
#ifndef GUEST_SIGNAL_SIGNAL_H
#define GUEST_SIGNAL_SIGNAL_H

#include <stdbool.h>

#include "guest/base/frame.h"
#include "guest/cpu/cpu.h"
#include "guest/thread/signal_queue.h"
#include "guest/thread/thread.h"

struct signal_info;

/* Sends a signal (1..64) with the program itself as its sender: si_code SI_USER, SI_TKILL.  An
 * ignored one is dropped. */
void signal_send(struct thread *thread, uint32_t signal, int code);
void signal_send_process(struct thread *sender, uint32_t signal, int code);

/* The same with any note.  0; -EAGAIN: too many real-time signals are pending. */
int signal_send_note(struct thread *thread, const struct signal_note *note);
int signal_send_process_note(struct process *process, const struct signal_note *note);

/* A note's words for a signal sent by the program itself. */
uint64_t signal_sender_word(const struct process *process);

/* True when sending it to the thread, or to the process, would do nothing. */
bool signal_ignored(const struct thread *thread, uint32_t signal);
bool signal_process_ignored(const struct process *process, uint32_t signal);

/* Takes the next pending signal of the set: faults first, then the lowest number, the thread's own
 * before the process's.  False: none is pending. */
bool signal_take(struct thread *thread, uint64_t set, struct signal_info *info);

/* True when a pending signal, the thread's own or one that it was told of, is not blocked. */
bool signal_deliverable(const struct thread *thread);

/* Called when a signal was sent that a signalfd may show; set at boot. */
extern void (*signal_listener)(uint32_t signal);

/* Sets the thread's mask; never blocks SIGKILL and SIGSTOP.  What it blocks from now on and the
 * process still has goes to another thread; what it does not block it is told of. */
void signal_set_mask(struct thread *thread, uint64_t mask);
uint64_t signal_mask_of(uint64_t mask);

/* No signal of the set is pending any more, in any thread. */
void signal_forget(struct process *process, uint64_t set);

/* The thread ends: its signals are gone, the process's go to the others. */
void signal_thread_ends(struct thread *thread);

/* True for a signal whose default is to do nothing. */
bool signal_default_ignores(uint32_t signal);

/* Ends the run as the signal's default does. */
void signal_die(uint32_t signal) __attribute__((noreturn));

/* Delivers what is deliverable: changes *frame to enter handlers, or ends the run.  A system call
 * that ended early for a signal (thread->interrupted) is made again where Linux does so. */
void signal_deliver(struct thread *thread, struct trap_frame *frame);

/* rt_sigreturn: *frame becomes what the program's signal frame says, or SIGSEGV is raised. */
void signal_return(struct thread *thread, struct trap_frame *frame);

/* sigaltstack: sets the stack to switch to when `sp` is the stack pointer.  0, -EPERM, -EINVAL,
 * -ENOMEM. */
struct signal_stack;
int signal_set_stack(struct thread *thread, uint64_t sp, const struct signal_stack *stack);
void signal_get_stack(const struct thread *thread, uint64_t sp, struct signal_stack *stack);

/* A synchronous fault of the program: delivers the signal to its handler, or ends the run when
 * there is none or it is blocked.  code and address: si_code and si_addr.
 */
void signal_fault(struct thread *thread, struct trap_frame *frame, uint32_t signal, int code,
                  uint64_t address);

#endif
