/* Builds the archive of one run: the manifest, the program and the files that it was given.
 *
 * Functions return 0, or -1 with the failure filled, and never print.
 */
#ifndef HOST_PACK_H
#define HOST_PACK_H

#include <limits.h>
#include <stdint.h>
#include <sys/stat.h>

#include "host/launch.h"
#include "host/options.h"
#include "host/run_failure.h"

struct pack_program {
    int fd;
    char path[PATH_MAX]; /* absolute, without symbolic links */
    struct stat status;
    uint64_t memory_bytes; /* of all segments */
    char build_id[129]; /* hexadecimal, empty if there is none */
};

/* Finds the program as a shell would and refuses, in words, what cannot run: exit status 127 when
 * there is no such program, 126 when it is not one that Microtome runs.
 */
int pack_find_program(const struct options *o, struct pack_program *program,
                      struct run_failure *failure);

/* Writes the archive to `fd` from its start; the program must have been found.  Refuses what does
 * not fit into the guest's memory.
 */
int pack_write(const struct options *o, const struct launch_machine *machine,
               const struct pack_program *program, int fd, struct run_failure *failure);

#endif
