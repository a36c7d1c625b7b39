/* Single entries of the list, for what fills it: host/pack/pack_list.c and host/pack/pack_tree.c.
 */
#ifndef HOST_PACK_PACK_LIST_ENTRIES_H
#define HOST_PACK_PACK_LIST_ENTRIES_H

#include "host/pack/pack_list.h"

/* Lists what is at `path` of the host under a name that needs no resolving, unless the name is
 * taken.  0, -ENODEV, -ENOMEM and what readlink says.
 */
int pack_list_put(struct pack_list *l, const char *name, const char *path,
                  const struct stat *status);

/* Forgets every entry but the first `count`. */
void pack_list_truncate(struct pack_list *l, size_t count);

#endif
