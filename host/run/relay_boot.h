/* Watches the progress of the guest's start, until its trace begins.
 *
 * The guest names each step on its console (RUN_STEP_LINE).  If the trace has not begun within
 * 10 s, one line reports the current step.  A guest that stays in one step for 120 s is ended.  The
 * first step gets a second more per GiB of memory, which is filled before the guest starts.  For
 * tests, HR_BOOT_LIMITS=MS,MS in the environment replaces the two limits.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/base/run_failure.h"

struct relay_boot {
    uint64_t warn_ns; /* CLOCK_MONOTONIC; UINT64_MAX: never; likewise end_ns */
    uint64_t end_ns;
    uint64_t start_ns;
    uint64_t patience_ns; /* limit for one step */
    unsigned int step; /* the latest, from 1; 0: none yet */
};

void relay_boot_init(struct relay_boot *boot, uint64_t memory_bytes, uint64_t now_ns);

/* Takes everything that the console has printed so far, with control characters escaped.  Steps
 * only move forward. */
void relay_boot_hear(struct relay_boot *boot, const char *console, uint64_t now_ns);

/* The trace has begun, or the guest has ended: nothing more is due. */
void relay_boot_finish(struct relay_boot *boot);

/* Returns when the next of the two events below is due; UINT64_MAX: never. */
uint64_t relay_boot_deadline(const struct relay_boot *boot);

/* Returns true once, when the start takes long; `line` then reports it. */
bool relay_boot_is_slow(struct relay_boot *boot, uint64_t now_ns, char line[200]);

/* Returns true once, when the guest must be ended; the failure is then filled. */
bool relay_boot_is_stuck(struct relay_boot *boot, uint64_t now_ns, struct run_failure *failure);
