/* Single entries of the list, for the code that fills it: host/pack/list/pack_list.c and
 * host/pack/list/pack_tree.c. */
#pragma once

#include "host/pack/list/pack_list.h"

/* Lists the file at `path` of the host under a fully resolved name, unless the name is taken.
 * Returns 0, -ENODEV, -ENOMEM or the error of readlink. */
int pack_list_put(struct pack_list *l, const char *name, const char *path,
                  const struct stat *status);

/* Removes every entry but the first `count`. */
void pack_list_truncate(struct pack_list *l, size_t count);
