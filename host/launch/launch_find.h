/* Finds the files that are needed to start a guest.
 *
 * Functions store a path and return 0, or -1 with the failure filled, unless noted.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "host/base/run_failure.h"
#include "host/options/options.h"

int launch_find_qemu(const struct options *o, char found[PATH_MAX], struct run_failure *failure);

/* Finds a file that is built with hr, in the directory of hr or in ../lib/microtome.  `given` is
 * what the option named instead, or NULL; `option` may be NULL if there is none. */
int launch_find_part(const char *name, const char *given, const char *option, char found[PATH_MAX],
                     struct run_failure *failure);
int launch_find_kernel(const struct options *o, char found[PATH_MAX], struct run_failure *failure);

/* Finds the optional firmware qboot.  Returns false if there is none. */
bool launch_find_qboot(const char *qemu, char found[PATH_MAX]);
