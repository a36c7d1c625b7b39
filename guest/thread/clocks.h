/* The program's clocks, by Linux's clock numbers.  Context: thread, with the kernel lock held. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "guest/thread/thread.h"

enum clocks_kind {
    CLOCKS_NONE, /* no such clock */
    CLOCKS_MONOTONIC, /* advances with the workload clock, from 0 */
    CLOCKS_REALTIME, /* CLOCKS_MONOTONIC plus the wall time of the start: since 1970 */
    CLOCKS_PROCESS, /* processor time that all threads of a process used */
    CLOCKS_THREAD /* processor time that one thread used */
};

struct clocks {
    enum clocks_kind kind;
    uint32_t id; /* CLOCKS_THREAD, CLOCKS_PROCESS: whose; 0: the calling thread's */
    bool user_only; /* CLOCKS_PROCESS, CLOCKS_THREAD: counts only the time in ring 3 */
    bool coarse;
    bool wakes; /* an alarm clock: the program may not set its timers */
    bool read_only; /* it has no timers */
};

/* The calling thread sleeps for `ns` nanoseconds of the workload clock, for ever if that exceeds
 * the clock's range.  Returns the nanoseconds left if a signal ended the sleep, else 0. */
uint64_t clocks_sleep(uint64_t ns);

uint64_t clocks_process_ns(const struct process *process); /* of processor time, of all threads */

/* Returns what a clock number names.  Negative numbers name the clocks of one process or thread. */
struct clocks clocks_find(int32_t number);

/* Reads a clock in nanoseconds.  Returns 0, or -EINVAL if there is no such clock or its thread has
 * ended. */
int clocks_read(const struct thread *thread, const struct clocks *clock, uint64_t *ns);

/* Returns the first tick at which the clock shows `ns` or more, to set a timer; UINT64_MAX: never.
 * Not for clocks of used time. */
uint64_t clocks_ticks(const struct clocks *clock, uint64_t ns);

static inline bool clocks_counts_use(const struct clocks *clock)
{
    return clock->kind == CLOCKS_PROCESS || clock->kind == CLOCKS_THREAD;
}
