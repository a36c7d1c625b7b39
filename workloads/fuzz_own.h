/* Calls that get structures of the caller's own, where the ones in the window would end the run:
 * signals that cannot be caught, threads on this one's stack. */
#pragma once

#include <sched.h>
#include <string.h>

#include "workloads/fuzz.h"

struct fuzz_own {
    struct sigevent event;
    siginfo_t info;
    uint64_t clone[11]; /* struct clone_args */
};

static inline uint64_t caught_signal(struct fuzz *f)
{
    return SIGNAL_SENT_MIN + below(f, SIGNAL_CAUGHT_MAX - SIGNAL_SENT_MIN + 1);
}

static inline void own_timer(struct fuzz *f, struct fuzz_own *own, uint64_t *a)
{
    static const int ways[] = {SIGEV_SIGNAL, SIGEV_NONE, SIGEV_SIGNAL | 4 /* SIGEV_THREAD_ID */};

    own->event.sigev_signo = (int)caught_signal(f);
    own->event.sigev_notify = below(f, 8) ? ways[below(f, 3)] : (int)argument(f);
    memcpy((char *)&own->event + 16, &(int){(int)getpid()}, sizeof(int)); /* the thread */
    own->event.sigev_value.sival_ptr = (void *)argument(f);
    a[0] = below(f, 16);
    a[1] = below(f, 4) ? (uint64_t)&own->event : 0;
}

static inline void own_info(struct fuzz *f, struct fuzz_own *own, uint64_t number, uint64_t *a)
{
    uint64_t *signal = &a[number == __NR_rt_tgsigqueueinfo ? 2 : 1];

    own->info.si_code = (int)argument(f);
    own->info.si_value.sival_ptr = (void *)argument(f);
    *signal = caught_signal(f);
    signal[1] = below(f, 8) ? (uint64_t)&own->info : 0;
    if (below(f, 2))
        a[0] = (uint64_t)getpid();
}

/* Asks for a second process, which sends SIGCHLD when it ends. */
static inline void own_clone(struct fuzz *f, struct fuzz_own *own, uint64_t number, uint64_t *a)
{
    if (number == __NR_clone) {
        a[0] = (a[0] & ~(uint64_t)(CLONE_VM | CLONE_THREAD | CSIGNAL)) | SIGCHLD;
        a[1] = 0; /* the stack stays */
        return;
    }
    for (size_t i = 0; i < sizeof own->clone / sizeof own->clone[0]; i++)
        own->clone[i] = argument(f);
    own->clone[0] &= ~(uint64_t)(CLONE_VM | CLONE_THREAD);
    own->clone[4] = SIGCHLD;
    own->clone[5] = own->clone[6] = 0; /* the stack stays */
    if (below(f, 2)) {
        own->clone[0] &= ~(uint64_t)CSIGNAL & UINT32_MAX & ~(uint64_t)CLONE_DETACHED;
        own->clone[9] = 0; /* no set_tid */
    }
    a[0] = (uint64_t)own->clone;
    a[1] = below(f, 4) ? sizeof own->clone : below(f, 2 * sizeof own->clone);
    if (a[1] > sizeof own->clone)
        a[0] = in_window(f) | 1ull << 63; /* longer than our structure: never a good address */
}

/* Returns 1 if it prepared the call; tame() is not asked then. */
static inline int with_own(struct fuzz *f, struct fuzz_own *own, uint64_t number, uint64_t *a)
{
    switch (number) {
    case __NR_timer_create:
        own_timer(f, own, a);
        return 1;
    case __NR_rt_sigqueueinfo:
    case __NR_rt_tgsigqueueinfo:
        own_info(f, own, number, a);
        return 1;
    case __NR_clone:
    case __NR_clone3:
        own_clone(f, own, number, a);
        return 1;
    default:
        return 0;
    }
}
