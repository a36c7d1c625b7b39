/* Finds a program by name, as a shell does. */
#pragma once

#include <limits.h>

#include "host/base/run_failure.h"

/* Stores the first executable match in PATH.  A launcher of pyenv is replaced by the program that
 * it would start.  Returns 0, or -1 with the failure filled: status 127, or 126 if no match is
 * executable. */
int pack_search_path(const char *name, char found[PATH_MAX], struct run_failure *failure);
