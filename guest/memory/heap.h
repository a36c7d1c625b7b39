/* Small objects of the kernel: names, inodes, entries.  Pages without objects go back to
 * guest/memory/phys.h.  Context: thread, by the kernel lock's holder, or boot. */
#pragma once

#include <stddef.h>

/* Returns zeroed memory, 16-byte aligned; from a page's size on, whole blocks of pages.  NULL if
 * none is left, or for more than the largest block. */
void *heap_alloc(size_t bytes);

/* Frees what heap_alloc(bytes) returned; `bytes` must be the same.  NULL does nothing. */
void heap_free(void *object, size_t bytes);
