/* Small objects of the kernel: names, inodes, entries.  Thread context, by the kernel lock's
 * holder, or at boot.  Pages without objects go back to guest/memory/phys.h.
 */
#ifndef GUEST_MEMORY_HEAP_H
#define GUEST_MEMORY_HEAP_H

#include <stddef.h>

/* Zeroed memory, 16-byte aligned; from a page's size on, whole blocks of pages.  NULL: none left,
 * or more than the largest block. */
void *heap_alloc(size_t bytes);

/* Gives back what heap_alloc(bytes) gave, with the same size; NULL does nothing. */
void heap_free(void *object, size_t bytes);

#endif
