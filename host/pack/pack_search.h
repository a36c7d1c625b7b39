/* Finds a program by name, as a shell does. */
#ifndef HOST_PACK_PACK_SEARCH_H
#define HOST_PACK_PACK_SEARCH_H

#include <limits.h>

#include "host/base/run_failure.h"

/* The first match in PATH that can be executed.  A launcher of pyenv's stands for the program that
 * it would start.  0, or -1 with the failure filled: status 127, or 126 where nothing that was
 * found may be executed.
 */
int pack_search_path(const char *name, char found[PATH_MAX], struct run_failure *failure);

#endif
