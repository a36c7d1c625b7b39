/* Watches that the guest gets on with its start, until its trace begins.
 *
 * The guest says on its console which step it begins (RUN_STEP_LINE).  Where the trace has not
 * begun within 10 s, one line says in which step the guest stands; a guest that stays in one step
 * for 120 s is ended.  Filling memory before the guest starts has a second for each GiB.  For tests
 * HR_BOOT_LIMITS=MS,MS in the environment replaces the two limits.
 */
#ifndef HOST_RUN_RELAY_BOOT_H
#define HOST_RUN_RELAY_BOOT_H

#include <stdbool.h>
#include <stdint.h>

#include "host/base/run_failure.h"

struct relay_boot {
    uint64_t warn_ns; /* CLOCK_MONOTONIC; UINT64_MAX: never.  So is the other */
    uint64_t end_ns;
    uint64_t start_ns;
    uint64_t patience_ns; /* with one step */
    unsigned int step; /* the latest, from 1 on; 0: none yet */
};

void relay_boot_init(struct relay_boot *boot, uint64_t memory_bytes, uint64_t now_ns);

/* What the console has said so far, with control characters escaped.  Steps only go forward. */
void relay_boot_hear(struct relay_boot *boot, const char *console, uint64_t now_ns);

/* The trace has begun, or the guest is gone: nothing is due any more. */
void relay_boot_finish(struct relay_boot *boot);

/* When the next of the two below is due; UINT64_MAX: never. */
uint64_t relay_boot_deadline(const struct relay_boot *boot);

/* True once, when the start takes long: then `line` says so. */
bool relay_boot_is_slow(struct relay_boot *boot, uint64_t now_ns, char line[200]);

/* True once, when the guest is to be ended: then the failure is filled. */
bool relay_boot_is_stuck(struct relay_boot *boot, uint64_t now_ns, struct run_failure *failure);

#endif
