/* The secret that machines must know: for those who collect, and for sticks, which hold it. */
#ifndef HOST_COLLECT_STREAM_TOKEN_H
#define HOST_COLLECT_STREAM_TOKEN_H

#include "host/base/run_failure.h"
#include "include/run_stream.h"

/* The first line of the file, or HR_TOKEN of the environment when `path` is NULL, or none (all
 * zero): at most 63 printable ASCII characters, no blanks and no '#', which microtome.conf could
 * not hold.  0, or -1 with the failure filled.
 */
int token_read(char token[RUN_STREAM_NAME_BYTES], const char *path, struct run_failure *failure);

#endif
