/* A process's resource limits. */
#pragma once

#include <stdint.h>

#define LIMITS_COUNT 16 /* RLIM_NLIMITS */
#define LIMITS_FILES 1024 /* most descriptors */

struct limit { /* struct rlimit64 */
    uint64_t soft;
    uint64_t hard;
};

/* The limits of the first process at its start, by RLIMIT_*. */
extern const struct limit limits_first[LIMITS_COUNT];
