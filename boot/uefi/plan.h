/* Which of the firmware's free memory a run gets: RAM for the kernel and the program, BUFFER for
 * what leaves the run.  Pure.
 */
#ifndef BOOT_UEFI_PLAN_H
#define BOOT_UEFI_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "include/boot_info.h"

#define PLAN_FREE_MAX 1024
#define PLAN_RANGE_BYTES_MIN (1ull << 20) /* smaller ones are not worth a range */
#define PLAN_RESERVE_MIN (64ull << 20) /* what the firmware keeps: 1/16, within these limits */
#define PLAN_RESERVE_MAX (512ull << 20)

struct plan_free {
    uint64_t base; /* multiples of a page */
    uint64_t bytes;
};

struct plan_wish { /* BOOT_CONF_ALL: all that there is; both: a half each; BOOT_CONF_USUAL */
    uint64_t memory_bytes;
    uint64_t buffer_bytes;
};

struct plan {
    uint64_t free_bytes; /* in pieces that are large enough */
    uint64_t reserve_bytes;
    uint64_t memory_bytes, buffer_bytes; /* what it came to */
    uint32_t range_count; /* RAM first, then BUFFER from the largest on */
    struct boot_memory_range ranges[BOOT_MEMORY_RANGES_MAX];
};

/* Sorts `free`.  False: there is not enough, and plan->free_bytes and ->reserve_bytes say what is.
 */
bool plan_make(struct plan *plan, struct plan_free *free, size_t count, struct plan_wish wish);

#endif
