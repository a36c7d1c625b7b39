/* The pages that an inode owns: a radix tree of physical addresses, by page index.
 * inode->pages is the root, a node of 512 entries, with the tree's height in the low bits.  The
 * first page is in inode->first_page, so that small files need no node.  For guest/inode*.c alone.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "guest/vm/inode.h"

#define INODE_PAGE_MASK (~0xfffull) /* of an entry: the page's physical address */

enum { /* and in its low bits */
       INODE_PAGE_UNSENT = 1, /* written since it was last given to the host */
       INODE_PAGE_SHOWN = 2, /* an area may write it without the kernel's knowledge */
};

/* Returns the entry of a page.  NULL, or an entry of 0: there is no page. */
uint64_t *inode_pages_entry(struct inode *inode, uint64_t index);

/* Returns the entry of a page, made (as 0) if there is none: the caller puts a page in at once.
 * NULL: no memory. */
uint64_t *inode_pages_make(struct inode *inode, uint64_t index);

/* Returns the entry of the first page from *index on that the inode owns, and sets *index; NULL:
 * none. */
uint64_t *inode_pages_next(struct inode *inode, uint64_t *index);

/* Frees the pages first .. end-1, which no area shows. */
void inode_pages_free(struct inode *inode, uint64_t first, uint64_t end);
