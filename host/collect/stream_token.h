/* The secret that machines must know, for collectors and for sticks, which contain it. */
#pragma once

#include "host/base/run_failure.h"
#include "include/run_stream.h"

/* Reads the first line of the file, or HR_TOKEN of the environment if `path` is NULL; all zero
 * means no token.  It has at most 63 printable ASCII characters, without blanks and '#', which
 * microtome.conf could not express.  Returns 0, or -1 with the failure filled. */
int stream_token_read(char token[RUN_STREAM_NAME_BYTES], const char *path,
                      struct run_failure *failure);
