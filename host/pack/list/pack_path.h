/* Functions on paths as text. */
#pragma once

#include <limits.h>
#include <stdbool.h>

/* Makes a path absolute, relative to `directory` or, if that is NULL, the working directory, and
 * removes "." and doubled slashes.  Links and ".." are kept: nothing is looked up.  Returns 0 or
 * -errno. */
int pack_path_absolute(const char *path, const char *directory, char absolute[PATH_MAX]);

/* Removes the last component: "/usr/bin" becomes "/usr", "/usr" becomes "/". */
void pack_path_parent(char *path);

/* Returns whether `path` is `directory` or below it. */
bool pack_path_is_below(const char *path, const char *directory);
