/* Ends a run that takes too long, where no host does: after boot_info.timeout_ns, or the manifest's
 * timeout, of the workload clock the program is stopped (HR_EXIT_TIMEOUT).
 */
#ifndef GUEST_SERVICE_DEADLINE_H
#define GUEST_SERVICE_DEADLINE_H

#include <stdbool.h>

/* The program starts now; by the kernel lock's holder, on a workload CPU. */
void deadline_start(void);

/* The service CPU, often: stops the program when it is time; leaves the machine when a CPU has
 * not ended the run long after it was told to, or began to.  `served`: a CPU has just had a request
 * served, which shows that it lives, and may have waited long for that. */
void deadline_look(bool served);

#endif
