/* Makes the archive of a run from one of hr pack: the same files, and a manifest for this machine,
 * with other events where -e names them. */
#pragma once

#include "host/launch/launch.h"
#include "host/options/options.h"

/* Writes the archive to `fd`, an empty file, with this manifest, of RUN_MANIFEST_BYTES_MAX at most,
 * in place of its own.  Returns 0 or -errno. */
int run_packed_replace(const struct options_packed *packed, const char *manifest, size_t count,
                       int fd);

/* Writes it to `fd`, an empty file in memory.  Returns 0, or -1 with the failure filled. */
int run_packed_write(const struct options *o, const struct launch_machine *machine, int fd,
                     struct run_failure *failure);
