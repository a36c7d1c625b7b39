/* Asks whether KVM works here and executes code at a CPU's speed. */
#ifndef HOST_LAUNCH_ACCEL_H
#define HOST_LAUNCH_ACCEL_H

#include <stdbool.h>

/* Runs a loop of some million instructions in a tiny virtual machine, for at most 10 ms.  Stores
 * the reason in *why (a constant).  Call while the process has one thread: it borrows SIGALRM.
 */
bool launch_accel_kvm_is_fast(const char **why);

#endif
