/* Speaks QMP, QEMU's control protocol, with an emulator that waits to be started.
 *
 * The emulator's answers are not trusted.  Functions return 0, LAUNCH_QMP_GONE if the emulator
 * ended (its exit status tells why), or -1 with the failure filled.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/base/run_failure.h"

#define LAUNCH_QMP_BYTES 65536 /* longest answer */

enum { LAUNCH_QMP_GONE = 1 };

struct launch_qmp {
    int fd; /* a non-blocking socket; the caller's */
    uint64_t deadline_ns; /* CLOCK_MONOTONIC; for all calls together */
    size_t used;
    size_t searched; /* no line ends before this offset */
    char buffer[LAUNCH_QMP_BYTES];
};

/* Reads the greeting and leaves negotiation mode. */
int launch_qmp_open(struct launch_qmp *q, int fd, unsigned limit_ms, struct run_failure *failure);

/* Stores the thread of each of the guest's CPUs, by CPU, in threads[0..count).  Fails unless the
 * guest has exactly `count` CPUs. */
int launch_qmp_threads(struct launch_qmp *q, pid_t *threads, int count,
                       struct run_failure *failure);

/* Starts the guest. */
int launch_qmp_continue(struct launch_qmp *q, struct run_failure *failure);
