/* The directory of files that hr keeps between runs: $XDG_CACHE_HOME/microtome, or
 * ~/.cache/microtome.
 *
 * It must belong to the user and be closed to others.  If it is not, or if anything else goes
 * wrong, nothing is kept and the run is not affected.  Several hr may use it at once: a file gets
 * its name when it is complete, and may be removed at any time.  Kinds of files differ by the
 * prefix of their names.  Never prints.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* Opens the directory and stores its path; `make` creates it if needed.  Returns a descriptor that
 * the caller closes, or -1. */
int cache_open(bool make, char path[PATH_MAX]);

/* Removes the least recently used files with the prefix (by modification time) until the remaining
 * ones fit into `bytes_max`.  Never removes the file `spared`. */
void cache_evict(int directory, const char *prefix, const char *spared, uint64_t bytes_max);

/* Appends bytes of one file to another.  Returns 0 or -errno. */
int cache_copy(int from, uint64_t offset, uint64_t bytes, int to);
