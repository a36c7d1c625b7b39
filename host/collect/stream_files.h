/* What the machine sent of files that the program made: unpacks it when the run is complete. */
#ifndef HOST_COLLECT_STREAM_FILES_H
#define HOST_COLLECT_STREAM_FILES_H

#include "host/collect/stream_run.h"

#define RUN_FILES_STREAM "files.stream" /* until it is unpacked */

/* Unpacks RUN_FILES_STREAM to files/ and lists names that were looked for in vain in missing.txt.
 * Fills kept_files and files_bad of the run.  0, or -errno of the disk.
 */
int run_files_unpack(struct stream_run *run);

#endif
