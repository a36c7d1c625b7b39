/* How a thread waits for others and for time.  Context: thread, with the kernel lock held; it is
 * released while the thread waits. */
#pragma once

#include <stdbool.h>

#include "guest/thread/thread.h"

#define WAIT_FOREVER UINT64_MAX

enum wait_end { WAIT_WOKEN, WAIT_TIMEOUT, WAIT_SIGNAL };

/* Waits for wait_wake, for a signal that is to be delivered (or is in thread->signals.wanted), or
 * until `ns` nanoseconds have passed.  Other threads run while it waits.  May return on another
 * CPU.  If nothing can ever end the wait, ends the run and reports `what`. */
enum wait_end wait_for(struct thread *thread, uint64_t ns, const char *what);

/* Like wait_for, but also ends at wait_wake_key for `key`: the address of what the thread waits
 * for, in the kernel or (futexes) in the program.  The kernel lock is held from the caller's check
 * to the wait, so no wake-up is lost.  Check again afterwards: another thread may have been faster.
 */
enum wait_end wait_on(struct thread *thread, uint64_t key, uint64_t ns, const char *what);

/* wait_on without a time limit that only SIGKILL ends early: other signals wait as if blocked. */
enum wait_end wait_killable(struct thread *thread, uint64_t key, const char *what);

/* wait_on, counted in *waiting: who would wake it sees whether anybody waits. */
static inline enum wait_end wait_counted(struct thread *thread, uint64_t key, uint64_t ns,
                                         const char *what, uint32_t *waiting)
{
    enum wait_end end;

    ++*waiting;
    end = wait_on(thread, key, ns, what);
    --*waiting;
    return end;
}

#define WAIT_KEY(object) ((uint64_t)(object))
#define WAIT_POLL_KEY 1ull /* woken when the readiness of some file changes */

/* Wakes at most `most` threads that wait for the key, in the order in which they came; returns how
 * many. */
uint32_t wait_wake_key(uint64_t key, uint32_t most);

/* wait_first returns the first thread that waits for the key and for which `wants` (NULL: any) is
 * true, or NULL.  wait_requeue makes it wait for another key instead, as the last of those that do.
 */
struct thread *wait_first(uint64_t key,
                          bool (*wants)(const struct thread *thread, uint64_t context),
                          uint64_t context);
void wait_requeue(struct thread *thread, uint64_t key);

/* Sleeps until `until` of the workload clock.  Returns true if a signal came before. */
bool wait_asleep(struct thread *thread, uint64_t until);

/* Ends another thread's wait. */
void wait_wake(struct thread *thread);

/* Call after a signal was sent that the thread may have to take: ends its wait, or interrupts its
 * CPU. */
void wait_interrupt(struct thread *thread);

/* Timers of used time rest while no thread runs; `wake` starts them again when one does. */
struct wait_timers {
    bool resting;
    void (*wake)(void); /* set at boot */
};
extern struct wait_timers wait_timers;
