/* The program's clocks by their numbers.  Thread context, by the kernel lock's holder. */
#ifndef GUEST_THREAD_CLOCKS_H
#define GUEST_THREAD_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "guest/thread/thread.h"

enum clocks_kind {
    CLOCKS_NONE, /* no such clock */
    CLOCKS_MONOTONIC, /* advances with the workload clock, from 0 */
    CLOCKS_REALTIME, /* the same from 1970 */
    CLOCKS_PROCESS, /* time that all threads used */
    CLOCKS_THREAD /* time that one thread used */
};

struct clocks {
    enum clocks_kind kind;
    uint32_t tid; /* CLOCKS_THREAD: whose; 0: the asking one's */
    bool user_only; /* CLOCKS_PROCESS, CLOCKS_THREAD: the time in ring 3 alone */
    bool coarse;
    bool wakes; /* its timers would wake a sleeping machine: the program may not set them */
    bool read_only; /* it has no timers */
};

/* The calling thread sleeps for `ns` nanoseconds of the workload clock (for ever where that would
 * take it past its range).  Returns the nanoseconds that were left when a signal came, else 0. */
uint64_t clocks_sleep(uint64_t ns);

/* Nanoseconds of processor time: of all threads, and of the calling one. */
uint64_t clocks_process_ns(void);
uint64_t clocks_thread_ns(void);

/* What a clock number names, threads' and processes' own ones included. */
struct clocks clocks_find(int32_t number);

/* Now, in nanoseconds.  0; -EINVAL: no such clock, or its thread has ended. */
int clocks_read(const struct thread *thread, const struct clocks *clock, uint64_t *ns);

/* For a timer: the first tick at which the clock shows `ns` or more; UINT64_MAX: never.  Not for
 * clocks of used time. */
uint64_t clocks_ticks(const struct clocks *clock, uint64_t ns);

static inline bool clocks_counts_use(const struct clocks *clock)
{
    return clock->kind == CLOCKS_PROCESS || clock->kind == CLOCKS_THREAD;
}

#endif
