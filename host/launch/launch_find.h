/* Where the files are that a guest is started from.
 *
 * Functions store a path and return 0, or -1 with the failure filled.
 */
#ifndef HOST_LAUNCH_LAUNCH_FIND_H
#define HOST_LAUNCH_LAUNCH_FIND_H

#include <limits.h>
#include <stdbool.h>

#include "host/base/run_failure.h"
#include "host/options/options.h"

int launch_find_qemu(const struct options *o, char found[PATH_MAX], struct run_failure *failure);

/* A file that is built with hr and lies beside it, or in ../lib/microtome.  `given`: what the
 * option named instead, or NULL; `option` may be NULL where there is none.
 */
int launch_find_part(const char *name, const char *given, const char *option, char found[PATH_MAX],
                     struct run_failure *failure);
int launch_find_kernel(const struct options *o, char found[PATH_MAX], struct run_failure *failure);

/* The firmware qboot, which QEMU can do without; false when there is none. */
bool launch_find_qboot(const char *qemu, char found[PATH_MAX]);

#endif
