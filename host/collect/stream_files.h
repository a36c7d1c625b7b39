/* Unpacks the files that the program created from a machine's stream, when the run is complete. */
#ifndef HOST_COLLECT_STREAM_FILES_H
#define HOST_COLLECT_STREAM_FILES_H

#include "host/collect/stream_run.h"

#define RUN_FILES_STREAM "files.stream" /* exists until it is unpacked */

/* Unpacks RUN_FILES_STREAM to files/ and lists names that the program did not find in missing.txt.
 * Fills kept_files and files_bad of the run.  Returns 0, or -errno of the disk.
 */
int stream_files_unpack(struct stream_run *run);

#endif
