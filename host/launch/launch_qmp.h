/* Speaks QMP, QEMU's control protocol, with an emulator that waits to be started.
 *
 * What the emulator says is not trusted.  Functions return 0, LAUNCH_QMP_GONE when the emulator
 * ended (the run's end tells why), or -1 with the failure filled.
 */
#ifndef HOST_LAUNCH_LAUNCH_QMP_H
#define HOST_LAUNCH_LAUNCH_QMP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "host/base/run_failure.h"

#define LAUNCH_QMP_BYTES 65536 /* of one answer */

enum { LAUNCH_QMP_GONE = 1 };

struct launch_qmp {
    int fd; /* a non-blocking socket; the caller's */
    uint64_t deadline_ns; /* CLOCK_MONOTONIC; for everything together */
    size_t used;
    size_t searched; /* no line ends before it */
    char buffer[LAUNCH_QMP_BYTES];
};

/* Takes the greeting and leaves negotiation mode. */
int launch_qmp_open(struct launch_qmp *q, int fd, unsigned limit_ms, struct run_failure *failure);

/* Stores the thread of each of the guest's CPUs, threads[0..count), by CPU.  Fails unless the guest
 * has exactly `count` of them.
 */
int launch_qmp_threads(struct launch_qmp *q, pid_t *threads, int count,
                       struct run_failure *failure);

/* Starts the guest. */
int launch_qmp_continue(struct launch_qmp *q, struct run_failure *failure);

#endif
