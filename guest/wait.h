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

/* Sleeps until TSC `until`; true: a signal came before. */
bool wait_asleep(struct thread *thread, uint64_t until);

/* Ends another thread's wait_for. */
void wait_wake(struct thread *thread);

#endif
