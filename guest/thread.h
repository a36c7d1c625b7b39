/* A thread of the program, and the one process it belongs to. */
#ifndef GUEST_THREAD_H
#define GUEST_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/cpu.h"
#include "guest/signal_queue.h"
#include "guest/vm.h"
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

struct file_table;

struct process {
    struct vm_space space;
    struct manifest manifest;
    struct signal_action actions[SIGNALS + 1];
    uint32_t pid; /* PROCESS_ID */
    char cwd[4096];
    uint32_t umask;
    struct file_table *files; /* guest/files.h; made by exec_load */
    const char *program_path; /* for /proc/self/exe: absolute path */
    struct signal_queue signals; /* sent to the process: any thread may take them */
    uint32_t first_status; /* of the first thread's exit: the program's if it is not the last */
    uint64_t ended_ticks; /* used by threads that ended */
    volatile uint32_t stop_signal; /* set by the host's RUN_HOST_STOP; 0: none */
    volatile uint32_t stop_is_timeout;
};

struct thread {
    struct process *process;
    uint32_t tid;
    char name[16]; /* PR_SET_NAME, NUL-terminated */
    uint64_t signal_mask; /* bit N-1: signal N is blocked */
    struct signal_queue signals; /* sent to the thread and not delivered */
    uint64_t signal_saved_mask; /* in force again after sigsuspend's handler, if so marked */
    bool signal_restore_mask;
    uint64_t clear_child_tid; /* user address */
    uint64_t robust_list;
    uint64_t robust_list_bytes;
    uint64_t signal_stack[3]; /* sigaltstack: sp, flags, bytes */
    uint64_t fault_vector, fault_error, fault_address; /* the last exceptions: for ucontext */
    uint64_t interrupted; /* number, and 1, of a system call that a signal ended early; 0: none */
    uint64_t restart_until; /* of a wait with a time limit: its end, for when it is made again */
    /* guest/threads.h */
    struct cpu *cpu; /* where it lives; NULL: this is no thread */
    struct trap_frame start; /* its first entry into ring 3 */
    uint64_t fs_base, gs_base; /* the same */
    bool has_fpu; /* the same: from cpu->fpu_area; otherwise the initial state */
    uint64_t used_ticks; /* until running_since */
    uint64_t running_since;
    /* guest/wait.h */
    bool waiting;
    bool woken; /* atomic */
    bool forever; /* without a timeout */
    uint64_t signals_wanted; /* end the wait though they are blocked */
    uint64_t wait_key; /* 0: none */
    uint64_t wait_order; /* first come, first woken */
    uint32_t futex_bits;
    bool return_by_iret; /* a system call changed more than rax: only IRETQ restores it all */
};

#endif
