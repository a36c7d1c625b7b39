/* How a thread waits for others and for time.  Thread context, by the kernel lock's holder, who
 * does not hold it meanwhile. */
#ifndef GUEST_THREAD_WAIT_H
#define GUEST_THREAD_WAIT_H

#include <stdbool.h>

#include "guest/thread/thread.h"

#define WAIT_FOREVER UINT64_MAX

enum wait_end { WAIT_WOKEN, WAIT_TIMEOUT, WAIT_SIGNAL };

/* Waits for wait_wake, for a signal that is to be delivered (or is in thread->signals_wanted), or
 * until `ns` nanoseconds have passed.  Other threads run meanwhile, and the caller may go on on
 * another CPU.  Where nothing can end it, the run ends; `what` says where. */
enum wait_end wait_for(struct thread *thread, uint64_t ns, const char *what);

/* Waits so for a key: the address of what the thread waits for, in the kernel or (futexes) in the
 * program.  The lock is held from the caller's look at that to the wait: no wake-up is lost.  The
 * caller looks again afterwards: another thread may have been faster. */
enum wait_end wait_on(struct thread *thread, uint64_t key, uint64_t ns, const char *what);

#define WAIT_KEY(object) ((uint64_t)(object))
#define WAIT_POLL_KEY 1ull /* that some file's readiness changes */

/* Wakes those that wait for a key, at most `most` of them, in the order in which they came: their
 * number. */
uint32_t wait_wake_key(uint64_t key, uint32_t most);

/* The first of those for which `wants` (NULL: any) is true; NULL: none.  To let it wait for another
 * key, behind those that do already. */
struct thread *wait_first(uint64_t key,
                          bool (*wants)(const struct thread *thread, uint64_t context),
                          uint64_t context);
void wait_requeue(struct thread *thread, uint64_t key);

/* Sleeps until `until` of the workload clock; true: a signal came before. */
bool wait_asleep(struct thread *thread, uint64_t until);

/* Ends another thread's wait. */
void wait_wake(struct thread *thread);

/* A signal came that the thread may have to take: ends its wait, or has its CPU look. */
void wait_interrupt(struct thread *thread);

/* Timers of used time, which rest while no thread uses any: they go on when a thread runs again. */
struct wait_timers {
    bool resting;
    void (*wake)(void); /* set at boot */
};
extern struct wait_timers wait_timers;

#endif
