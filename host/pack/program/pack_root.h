/* A program that comes, with all its files, from a tree in the place of / (hr run --root DIR).
 *
 * Paths of the guest are found below the tree as chroot would find them: links stay inside.
 */
#pragma once

#include <limits.h>

#include "host/base/run_failure.h"
#include "host/options/options.h"

/* Returns the tree that the guest is served from in place of /, or NULL. */
const char *pack_root_of(const struct options *o);

/* Stores where the guest's `path` is here, without links; `root` NULL: the same path.  Returns 0 or
 * -errno. */
int pack_root_place(const char *root, const char *path, char place[PATH_MAX]);

/* Stores the guest's path of a place without links. */
void pack_root_name(const char *root, const char *place, char name[PATH_MAX]);

/* Finds a program in the guest's default PATH below the tree.  Returns 0, or -1 with the failure
 * filled: status 127, or 125 if there is no such tree. */
int pack_root_search(const char *root, const char *name, char found[PATH_MAX],
                     struct run_failure *failure);
