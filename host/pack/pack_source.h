/* Programs that are no programs yet: source code, named by the end of its name. */
#ifndef HOST_PACK_PACK_SOURCE_H
#define HOST_PACK_PACK_SOURCE_H

#include <stdbool.h>

#include "host/base/run_failure.h"

/* When the file is source code, or was not found and is beside the caller: fills the failure with
 * how to run it and returns true.  `path` is as the user wrote it.
 */
bool pack_source_explain(const char *path, int exit_status, struct run_failure *failure);

#endif
