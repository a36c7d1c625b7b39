/* The directory of what hr keeps between runs: $XDG_CACHE_HOME/microtome, or ~/.cache/microtome.
 *
 * It must be the user's own and closed to others; where it is not, or anything else goes wrong,
 * nothing is kept and the run does not notice.  Several hr may use it at once: a file gets its name
 * when it is whole, and may be gone at any time.  Kinds of files differ by the prefix of their
 * names.  Never prints.
 */
#ifndef HOST_BASE_CACHE_H
#define HOST_BASE_CACHE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* Its descriptor, to be closed, and its path; -1: there is none.  `make` makes it. */
int cache_open(bool make, char path[PATH_MAX]);

/* Removes the files with the prefix that were used the longest ago (by their time of modification)
 * until the rest is within `bytes_max`; but not the file `spared`. */
void cache_evict(int directory, const char *prefix, const char *spared, uint64_t bytes_max);

/* Appends bytes of a file to another one.  0 or -errno. */
int cache_copy(int from, uint64_t offset, uint64_t bytes, int to);

#endif
