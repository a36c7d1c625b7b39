/* Does work that may never end, such as calls for a file of a network that is down, in a thread
 * that can be given up.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SERVE_GRACE_NS 200000000ull
#define SERVE_ABANDONED_MAX 8u /* threads that were given up and have not come back */

/* The beginning of what a task's memory holds.  The task belongs to the worker while it is worked
 * on, and for good once it was given up. */
struct serve_work {
    void (*perform)(struct serve_work *work);
    void (*release)(struct serve_work *work); /* frees what was given up, when it ends after all */
    atomic_bool abandoned; /* a hint for long work: its result is not wanted */
};

struct serve_worker; /* NULL: none yet */

/* Has the work done by the worker, which is made if there is none, and waits for `limit_ns`, but no
 * longer than SERVE_GRACE_NS once `interrupt` (-1: none) is readable.  Returns 0; -EIO, or after an
 * interruption -ECANCELED, if it was given up, and the worker with it: *worker is NULL then;
 * -EAGAIN if there are too many such threads, or another -errno, and the work remains the caller's.
 */
int serve_worker_do(struct serve_worker **worker, struct serve_work *work, uint64_t limit_ns,
                    int interrupt);

/* Ends an idle worker; it may be NULL. */
void serve_worker_end(struct serve_worker *worker);

/* Returns how many threads were given up and have not come back. */
unsigned int serve_worker_abandoned(void);
