/* Ends a run that takes too long, where no host does: after boot_info.timeout_ns, or the manifest's
 * timeout, of the workload clock the program is stopped (HR_EXIT_TIMEOUT).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The program starts now; by the kernel lock's holder, on a workload CPU.  Returns when its time is
 * over, on the workload clock: in shared mode the caller then calls deadline_stop, else the service
 * CPU does; CPU_NEVER without a limit. */
uint64_t deadline_start(void);
void deadline_stop(void);

/* The service CPU, often: stops the program when it is time; leaves the machine when a CPU has
 * not ended the run long after it was told to, or began to.  `served`: a CPU has just had a request
 * served, which shows that it lives, and may have waited long for that. */
void deadline_look(bool served);
