/* What the parts of the inode code share. */
#ifndef GUEST_VM_INODE_CONTENTS_H
#define GUEST_VM_INODE_CONTENTS_H

#include "guest/vm/inode.h"

/* A page's contents as in the archive, zeros where it has none. */
void inode_fill_page(const struct inode *inode, uint64_t index, void *page);

/* The page behind an entry was or will be written. */
void inode_mark_written(struct inode *inode, uint64_t *entry);

/* The file ends at `bytes` now, which is more than before. */
void inode_extend(struct inode *inode, uint64_t bytes);

void inode_touch(struct inode *inode); /* its contents changed now */

#endif
