/* Where the files are that a guest is started from.
 *
 * Functions store a path and return 0, or -1 with the failure filled.
 */
#ifndef HOST_LAUNCH_FIND_H
#define HOST_LAUNCH_FIND_H

#include <limits.h>
#include <stdbool.h>

#include "host/options.h"
#include "host/run_failure.h"

int launch_find_qemu(const struct options *o, char found[PATH_MAX], struct run_failure *failure);
int launch_find_kernel(const struct options *o, char found[PATH_MAX], struct run_failure *failure);

/* The firmware qboot, which QEMU can do without; false when there is none. */
bool launch_find_qboot(const char *qemu, char found[PATH_MAX]);

#endif
