/* Explains how to run source code, which it recognises by the end of the file's name. */
#pragma once

#include <stdbool.h>

#include "host/base/run_failure.h"

/* If the file is source code, or was not found but is in the working directory, fills the failure
 * with how to run it and returns true.  `path` is as the user wrote it. */
bool pack_source_explain(const char *path, int exit_status, struct run_failure *failure);
