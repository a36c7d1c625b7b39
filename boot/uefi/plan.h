/* Divides the firmware's free memory for a run: RAM for the kernel and the program, BUFFER for the
 * output of the run.  Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "include/boot_info.h"

#define PLAN_FREE_MAX 1024
#define PLAN_RANGE_BYTES_MIN (1ull << 20) /* smaller ranges are not used */
#define PLAN_RESERVE_MIN (64ull << 20) /* left to the firmware: 1/16, within these limits */
#define PLAN_RESERVE_MAX (512ull << 20)

struct plan_free {
    uint64_t base; /* base and bytes are multiples of a page */
    uint64_t bytes;
};

struct plan_wish { /* BOOT_CONF_ALL: everything, or half if both are so; BOOT_CONF_USUAL */
    uint64_t memory_bytes;
    uint64_t buffer_bytes;
};

struct plan {
    uint64_t free_bytes; /* total of the pieces that are large enough */
    uint64_t reserve_bytes;
    uint64_t memory_bytes, buffer_bytes; /* planned sizes */
    uint32_t range_count; /* RAM first, then BUFFER with the largest first */
    struct boot_memory_range ranges[BOOT_MEMORY_RANGES_MAX];
};

/* Sorts `free`.  Returns false if there is not enough; plan->free_bytes and ->reserve_bytes then
 * say how much there is.
 */
bool plan_make(struct plan *plan, struct plan_free *free, size_t count, struct plan_wish wish);
