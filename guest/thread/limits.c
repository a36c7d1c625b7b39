/* A process's resource limits. */
#include "guest/thread/limits.h"

#include <linux/resource.h>

#include "guest/thread/signal_queue.h"
#include "guest/vm/vm.h"

#define UNLIMITED UINT64_MAX

/* Most are only kept for the program to read back; --mem limits memory. */
const struct limit limits_first[LIMITS_COUNT] = {
    [RLIMIT_CPU] = {UNLIMITED, UNLIMITED},
    [RLIMIT_FSIZE] = {UNLIMITED, UNLIMITED},
    [RLIMIT_DATA] = {UNLIMITED, UNLIMITED},
    [RLIMIT_STACK] = {VM_STACK_LIMIT_BYTES, UNLIMITED},
    [RLIMIT_CORE] = {0, UNLIMITED},
    [RLIMIT_RSS] = {UNLIMITED, UNLIMITED},
    [RLIMIT_NPROC] = {UNLIMITED, UNLIMITED},
    [RLIMIT_NOFILE] = {LIMITS_FILES, LIMITS_FILES},
    [RLIMIT_MEMLOCK] = {UNLIMITED, UNLIMITED},
    [RLIMIT_AS] = {UNLIMITED, UNLIMITED},
    [RLIMIT_LOCKS] = {UNLIMITED, UNLIMITED},
    [RLIMIT_SIGPENDING] = {SIGNAL_NOTES_MAX, SIGNAL_NOTES_MAX},
    [RLIMIT_MSGQUEUE] = {819200, 819200},
    [RLIMIT_RTTIME] = {UNLIMITED, UNLIMITED},
};
_Static_assert(RLIM_NLIMITS == LIMITS_COUNT, "limits");
