/* Opens the file that a command writes, without destroying what it reads.
 */
#ifndef HOST_OUTPUT_FILE_H
#define HOST_OUTPUT_FILE_H

#include <sys/stat.h>

#include "host/run_failure.h"

/* Creates or empties the file `path`; `what` names it in messages ("trace").  Refuses a file that
 * is also a standard stream, that is `input` (may be NULL), or that another hr is writing.  Never
 * waits for the other end of a FIFO.  The descriptor, or -1 with the failure filled.
 */
int output_file_open(const char *path, const char *what, const struct stat *input,
                     struct run_failure *failure);

#endif
