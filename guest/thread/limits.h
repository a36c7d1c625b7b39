/* The process's resource limits. */
#ifndef GUEST_THREAD_LIMITS_H
#define GUEST_THREAD_LIMITS_H

#include <stdint.h>

#define LIMITS_COUNT 16 /* RLIM_NLIMITS */
#define LIMITS_FILES 1024 /* most descriptors */

struct limit { /* struct rlimit64 */
    uint64_t soft;
    uint64_t hard;
};

/* The limits in force, by RLIMIT_*.  Protected by the kernel lock. */
extern struct limit limits_now[LIMITS_COUNT];

#endif
