/* How a thread waits for others and for time.  Thread context, by the kernel lock's holder, who
 * does not hold it meanwhile. */
#ifndef GUEST_WAIT_H
#define GUEST_WAIT_H

#include <stdbool.h>

#include "guest/thread.h"

#define WAIT_FOREVER UINT64_MAX

enum wait_end { WAIT_WOKEN, WAIT_TIMEOUT, WAIT_SIGNAL };

/* Waits for wait_wake, for a signal that is to be delivered (or is in thread->signals_wanted), or
 * until `ns` nanoseconds have passed.  What nothing can end ends the run; `what` says where.  In
 * shared mode there is nobody else, and time passes at once.
 */
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

/* Sleeps until TSC `until`; true: a signal came before. */
bool wait_asleep(struct thread *thread, uint64_t until);

/* Ends another thread's wait_for. */
void wait_wake(struct thread *thread);

#endif
