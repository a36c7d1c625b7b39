/* A thread of the program, and the one process it belongs to. */
#ifndef GUEST_THREAD_THREAD_H
#define GUEST_THREAD_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/cpu/cpu.h"
#include "guest/thread/signal_queue.h"
#include "guest/thread/timer.h"
#include "guest/vm/vm.h"
#include "lib/manifest.h"

#define SIGNALS 64
#define PROCESS_ID 1000u
#define PROCESS_USER_ID 1000u /* user and group of the program */

struct signal_action { /* as struct kernel_sigaction of Linux on x86-64 */
    uint64_t handler;
    uint64_t flags;
    uint64_t restorer;
    uint64_t mask;
};

struct thread_use { /* what getrusage counts, of a thread or of all that there were */
    uint64_t user_ticks; /* in ring 3, until it began to run where it runs */
    uint64_t page_faults;
    uint64_t waits; /* it gave its CPU up */
    uint64_t preemptions; /* another thread got it */
};

struct file_table;
struct fs_entry;

struct process {
    struct vm_space space;
    struct manifest manifest;
    struct signal_action actions[SIGNALS + 1];
    uint32_t pid; /* PROCESS_ID */
    struct fs_entry *directory; /* the working directory; held */
    uint32_t umask;
    struct file_table *files; /* guest/file/files.h; made by exec_load */
    const char *program_path; /* for /proc/self/exe: absolute path */
    struct signal_queue signals; /* sent to the process: any thread may take them */
    uint32_t first_status; /* of the first thread's exit: the program's if it is not the last */
    struct thread_use use;
    uint64_t used_ticks; /* by its threads, but for those that run now, since they do */
    volatile uint32_t broken_streams; /* bit N: nobody reads stream N (RUN_HOST_BROKEN) */
    volatile uint32_t stop_signal; /* set by the host's RUN_HOST_STOP; 0: none */
    volatile uint32_t stop_is_timeout;
};

struct thread {
    struct process *process;
    uint32_t tid;
    char name[16]; /* PR_SET_NAME, NUL-terminated */
    uint64_t signal_mask; /* bit N-1: signal N is blocked */
    struct signal_queue signals; /* sent to the thread and not delivered */
    bool signals_told; /* it is to look at what the process has */
    uint64_t signal_saved_mask; /* in force again after sigsuspend's handler, if so marked */
    bool signal_restore_mask;
    uint64_t clear_child_tid; /* user address */
    uint64_t robust_list;
    uint64_t robust_list_bytes;
    uint64_t signal_stack[3]; /* sigaltstack: sp, flags, bytes */
    uint64_t fault_vector, fault_error, fault_address; /* the last exceptions: for ucontext */
    uint64_t interrupted; /* number, and 1, of a system call that a signal ended early; 0: none */
    uint64_t restart_until; /* of a wait with a time limit: its end, for when it is made again */
    /* guest/thread/threads.h */
    struct thread *next, *previous; /* of all threads */
    struct thread *hash_next;
    uint64_t stack_top; /* of its kernel stack: above the frame of its entry from ring 3 */
    uint8_t *fpu_area; /* XSAVE */
    /* guest/thread/schedule.h */
    enum thread_state { THREAD_QUEUED, THREAD_RUNNING, THREAD_WAITING } state;
    struct cpu *cpu; /* where it runs, or ran last */
    uint64_t allowed_cpus; /* bit N: the program's CPU N; sched_setaffinity */
    struct thread *queue_next, *queue_previous;
    uint64_t kernel_rsp; /* while it does not run */
    uint64_t fs_base, gs_base; /* the same */
    bool started; /* it has been in ring 3 */
    uint32_t waker_tid; /* who made it run again; 0: no thread */
    uint64_t used_ticks; /* until running_since */
    struct thread_use use;
    uint64_t user_since; /* user_ticks of its CPU when it began to run there */
    uint64_t running_since;
    /* guest/thread/wait.h */
    uint8_t wait_end; /* enum wait_end */
    const char *wait_what; /* for people */
    uint64_t wait_key; /* 0: none */
    struct thread *wait_next, *wait_previous; /* that wait for keys with the same hash */
    struct timer timer; /* ends the wait */
    uint64_t signals_wanted; /* end the wait though they are blocked */
    uint32_t futex_bits;
    uint32_t futex_owner; /* it waits to own the futex, which this thread does:
                             guest/syscall/futex_pi.h */
    bool return_by_iret; /* a system call changed more than rax: only IRETQ restores it all */
};

#endif
