/* What the parts of the inode code share. */
#pragma once

#include "guest/vm/inode.h"

/* Fills `page` with a page's contents as in the archive, zeros where it has none. */
void inode_fill_page(const struct inode *inode, uint64_t index, void *page);

/* Makes a page the inode's own, with the archive's or the host's contents; it must not be yet.
 * Returns 0 and its entry, or -errno. */
int inode_own_page(struct inode *inode, uint64_t index, uint64_t **entry);

/* Before the inode is freed: it is no longer among those with fetched pages. */
void inode_served_forget(struct inode *inode);

/* Notes that the page of an entry was or will be written. */
void inode_mark_written(struct inode *inode, uint64_t *entry);

/* Extends the file to `bytes`, which is more than before. */
void inode_extend(struct inode *inode, uint64_t bytes);

void inode_touch(struct inode *inode); /* its contents changed now */
