/* System calls that Microtome refuses, and counts for the end of the run: guest/base/refused.h. */
#include <errno.h>

#include "guest/base/refused.h"
#include "guest/base/syscall_handlers.h"

int64_t syscall_unsupported(struct thread *, struct trap_frame *frame)
{
    refused_count(frame->vector, REFUSED_CALL);
    return -ENOSYS;
}

/* Refuses, without a count, what every program tries and can do without. */
int64_t syscall_not_offered(struct thread *, struct trap_frame *)
{
    return -ENOSYS;
}
