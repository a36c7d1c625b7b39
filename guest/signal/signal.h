/* Signals between processes and threads: sends and delivers them, and returns from handlers.
 * signal_fault() is in guest/signal/signal_deliver.c.
 *
 * A signal sent to the process stays in the process's queue until a thread takes it.  One thread
 * that does not block it is chosen and told; the others leave it alone, as on Linux: programs rely
 * on the first thread being interrupted.  If the chosen thread ends, or blocks the signal before
 * taking it, another one is told.
 *
 * Context: thread, with the kernel lock held. */
#pragma once

#include <stdbool.h>

#include "guest/base/frame.h"
#include "guest/cpu/cpu.h"
#include "guest/thread/signal_queue.h"
#include "guest/thread/thread.h"

#define HANDLER_DEFAULT 0u
#define HANDLER_IGNORE 1u
#define ACTION_RESTORER 0x04000000u /* SA_RESTORER */

struct signal_info;

/* Sends a signal (1..64) with the thread's own process as sender; si_code is SI_USER or SI_TKILL.
 * Drops an ignored signal. */
void signal_send(struct thread *thread, uint32_t signal, int code);

/* Send a signal with any note.  Return 0, or -EAGAIN if too many real-time signals are pending. */
int signal_send_note(struct thread *thread, const struct signal_note *note);
int signal_send_process_note(struct process *process, const struct signal_note *note);

/* Sends a signal of the kernel's to all processes of a group; 0: to none. */
void signal_send_group(uint32_t group, uint32_t signal);

/* Returns words[0] of a note for a signal that the program itself sent. */
uint64_t signal_sender_word(const struct process *process);

/* Return true if sending the signal to the thread, or to the process, would do nothing. */
bool signal_ignored(const struct thread *thread, uint32_t signal);
bool signal_process_ignored(const struct process *process, uint32_t signal);

/* Takes the next pending signal of the set: faults first, then the lowest number, the thread's own
 * before the process's.  Returns false if none is pending. */
bool signal_take(struct thread *thread, uint64_t set, struct signal_info *info);

/* Returns true if a pending signal, the thread's own or one that it was told of, is not blocked. */
bool signal_deliverable(const struct thread *thread);

/* Called when a signal was sent, for signalfds that may show it; set at boot. */
extern void (*signal_listener)(uint32_t signal);

/* Sets the thread's mask, without SIGKILL and SIGSTOP.  Tells the thread of the process's pending
 * signals that it no longer blocks, and other threads of those that it now blocks. signal_mask_of
 * returns a mask without SIGKILL and SIGSTOP. */
void signal_set_mask(struct thread *thread, uint64_t mask);
uint64_t signal_mask_of(uint64_t mask);

/* Drops the pending signals of the set, those of all threads included. */
void signal_forget(struct process *process, uint64_t set);

/* execve: signals with handlers get the default action, the alternate stack goes.  What is ignored,
 * blocked or pending stays. */
void signal_exec(struct thread *thread);

/* Gives every signal that has a handler its default action. */
void signal_clear_handlers(struct process *process);

/* Call when a thread ends: drops its pending signals and tells other threads of the process's. */
void signal_thread_ends(struct thread *thread);

/* Returns true if the signal's default action is to do nothing. */
bool signal_default_ignores(uint32_t signal);

/* Ends the calling thread's process with the signal's default action. */
void signal_die(uint32_t signal) __attribute__((noreturn));

/* There is no memory for a page that the calling thread needs: logs a notice, and sends SIGKILL to
 * the thread, whose process ends when the thread looks.  The first process ends the run at once. */
void signal_out_of_memory(void);

/* Makes all threads of the process end when they next look, the calling one excepted.  `status` is
 * what wait4 gives. */
void signal_end_process(struct process *process, uint32_t status);

/* Stops the calling thread until its process is continued: guest/signal/signal_stop.c. */
void signal_stop(struct thread *thread, uint32_t signal);

/* Call when a thread, not the last one, is about to leave the process, or when a new one has joined
 * it: the process may be stopping. */
void signal_stop_thread_leaves(struct process *process);
void signal_stop_thread_joined(struct thread *thread);

/* Tells a process's parent that it has ended, stopped or continued: `code` is CLD_*, `status` an
 * exit status or a signal.  Sends SIGCHLD (for an end the process's own signal), and wakes who
 * waits for it.  Returns false if the parent does not want to wait for an ended process. */
bool signal_tell_parent(struct process *process, int32_t code, uint32_t status);

/* Prepares for a signal that is about to be sent: SIGCONT continues a process, and signals that
 * stop take each other back. */
void signal_stop_or_continue(struct process *process, uint32_t signal);

/* Returns true if the signal's default action is to stop. */
bool signal_default_stops(uint32_t signal);

/* Delivers what is deliverable: changes *frame to enter handlers, or ends the run.  Restarts a
 * system call that a signal interrupted (thread->signals.interrupted) where Linux does so. */
void signal_deliver(struct thread *thread, struct trap_frame *frame);

/* rt_sigreturn: restores *frame from the program's signal frame, or raises SIGSEGV. */
void signal_return(struct thread *thread, struct trap_frame *frame);

/* sigaltstack: sets the alternate stack, while the stack pointer is `sp`.  Returns 0, -EPERM,
 * -EINVAL or -ENOMEM. */
struct signal_stack;
int signal_set_stack(struct thread *thread, uint64_t sp, const struct signal_stack *stack);
void signal_get_stack(const struct thread *thread, uint64_t sp, struct signal_stack *stack);

/* A synchronous fault of the program: delivers the signal to its handler, or ends the run if the
 * signal has none or is blocked.  `code` and `address` are si_code and si_addr. */
void signal_fault(struct thread *thread, struct trap_frame *frame, uint32_t signal, int code,
                  uint64_t address);
