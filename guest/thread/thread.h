/* A thread of a process. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "guest/cpu/cpu.h"
#include "guest/thread/process.h"
#include "guest/thread/signal_queue.h"
#include "guest/thread/timer.h"

struct thread_signals { /* guest/signal/signal.h */
    uint64_t mask; /* bit N-1: signal N is blocked */
    struct signal_queue queue; /* sent to this thread, not yet delivered */
    bool told; /* this thread is to take the process's pending signals */
    uint64_t saved_mask; /* restored after sigsuspend's handler, if `after_call` says so */
    uint64_t wanted; /* signals that end its wait although they are blocked */
    uint64_t stack[3]; /* sigaltstack: sp, flags, bytes */
    uint64_t interrupted; /* 1 + number of the system call that a signal interrupted; 0: none */
};

struct thread_schedule { /* guest/thread/schedule.h */
    enum thread_state { THREAD_QUEUED, THREAD_RUNNING, THREAD_WAITING } state;
    struct cpu *cpu; /* where it runs, or ran last */
    uint64_t allowed_cpus; /* bit N: the program's CPU N; sched_setaffinity */
    struct thread *next, *previous; /* neighbours in the run queue */
    uint64_t kernel_rsp; /* while it does not run */
    uint64_t fs_base, gs_base; /* while it does not run */
    bool started; /* it has been in ring 3 */
    bool between; /* it is between two instructions, with the clock stopped: schedule_enter */
    uint32_t waker_tid; /* of the thread that woke it; 0: none */
    uint64_t woken_at; /* when its wait ended; 0: it did not wait */
    uint64_t used_ticks; /* time used until running_since */
    uint64_t user_since; /* user_ticks of its CPU at running_since */
    uint64_t running_since;
};

struct thread_wait { /* guest/thread/wait.h */
    uint8_t end; /* enum wait_end */
    const char *what; /* what it waits for, for messages */
    uint64_t key; /* 0: none */
    struct thread *next, *previous; /* threads whose keys have the same hash */
    struct timer timer; /* ends the wait */
    uint64_t restart_until; /* when a wait ends that a signal interrupted: for its restart */
};

struct thread_futex { /* guest/syscall/futex/futex.h */
    uint32_t bits;
    uint64_t address; /* of the PI futex that it waits for */
    uint32_t owner; /* of the PI futex that it waits for, a tid: guest/syscall/futex/futex_pi.h */
};

struct probe_place;

struct thread_probe { /* guest/probe/probe.h */
    uint64_t again_ip, again_sp; /* the next hit with these was recorded before */
    uint64_t spare; /* in a copy: what the register that holds rip there is to hold again */
    struct thread_call { /* guest/probe/probe_heap.c: the allocator's outermost call */
        uint64_t sp; /* at its entry; 0: there is none */
        uint64_t caller; /* to where it returns */
        uint64_t inner; /* at the entry of an allocation within it; 0: there is none */
        uint64_t bytes, old; /* what it is to give, what it takes */
        uint64_t store; /* where it stores the address */
        const struct probe_place *place; /* its entry */
        bool told; /* it is to be recorded */
    } call;
    uint64_t calls; /* allocations that were large enough to be recorded */
};

struct call_stack;

struct thread {
    struct process *process;
    uint32_t tid;
    char name[16]; /* PR_SET_NAME, NUL-terminated */
    uint64_t clear_child_tid; /* user address */
    uint64_t set_child_tid; /* user address where a new process stores its tid; 0: none */
    uint64_t robust_list;
    uint64_t robust_list_bytes;
    uint64_t fault_vector, fault_error, fault_address; /* of the last exception, for ucontext */
    uint64_t
        fault_served; /* address of its last page fault that was served: guest/syscall/traps.c */
    union { /* what a system call leaves to its end; most leave nothing */
        struct {
            bool return_by_iret; /* it changed more than rax: only IRETQ restores it all */
            bool restore_mask; /* signals.saved_mask is to be the mask again */
            bool forget_restart; /* wait.restart_until may be set */
        };
        uint32_t any;
    } after_call;
    /* guest/thread/threads.h */
    struct thread *next, *previous; /* in the list of its process */
    struct thread *hash_next;
    uint64_t stack_top; /* end of its kernel stack, just above the frame of its entry from ring 3 */
    uint8_t *fpu_area; /* XSAVE */
    struct thread_use use;
    struct thread_signals signals;
    struct thread_schedule schedule;
    struct thread_wait wait;
    struct thread_futex futex;
    struct thread_probe probe;
    struct call_stack *calls; /* guest/calls/calls.h; NULL: none yet */
};

/* Returns the signals pending for the thread or its process. */
static inline uint64_t thread_signals_all(const struct thread *thread)
{
    return __atomic_load_n(&thread->signals.queue.pending, __ATOMIC_RELAXED) |
           __atomic_load_n(&thread->process->signals.pending, __ATOMIC_RELAXED);
}

/* Returns the pending signals that this thread is to take. */
static inline uint64_t thread_signals_own(const struct thread *thread)
{
    return thread->signals.told ? thread_signals_all(thread) : thread->signals.queue.pending;
}

/* Returns true if one of them ends a wait: it is not blocked, or the thread waits for it. */
static inline bool thread_signals_wake(const struct thread *thread)
{
    return thread_signals_own(thread) & (~thread->signals.mask | thread->signals.wanted);
}
