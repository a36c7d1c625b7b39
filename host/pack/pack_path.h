/* Paths as text. */
#ifndef HOST_PACK_PACK_PATH_H
#define HOST_PACK_PACK_PATH_H

#include <limits.h>
#include <stdbool.h>

/* Makes a path absolute, from `directory` or, when that is NULL, the working directory, and removes
 * "." and doubled slashes.  Links and ".." stay what they are: nothing is looked up.  0, -errno.
 */
int pack_path_absolute(const char *path, const char *directory, char absolute[PATH_MAX]);

/* Removes the last component: "/usr/bin" becomes "/usr", "/usr" becomes "/". */
void pack_path_parent(char *path);

/* True when `path` is `directory` or below it. */
bool pack_path_is_below(const char *path, const char *directory);

#endif
