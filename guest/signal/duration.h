/* Ends a program that would serve forever: SIGTERM after a time of its clock, and if it is still
 * there DURATION_GRACE_NS later, the end of the run by SIGKILL. */
#pragma once

#include <stdint.h>

#define DURATION_GRACE_NS 5000000000ull

/* The program starts now; 0: it may run forever.  Context: workload CPU, with the kernel lock held.
 */
void duration_start(uint64_t ns);
