/* Arrays that grow by one item at a time, and large ones. */
#pragma once

#include <stddef.h>

/* Makes room for one more item at the end of an array of `count` items that only this function
 * allocates, NULL at first.  `array` is the address of the pointer to its items.  Returns 0 or
 * -ENOMEM, which leaves the array as it was. */
int array_grow(void *array, size_t count, size_t item_bytes);

/* Zeros for a table that is accessed in random order, aligned to cache lines and, where it is
 * large, in huge pages; NULL without memory.  The caller frees it. */
void *array_zeros(size_t bytes);

/* Likewise for an array that is filled from its start: what is not yet used takes no memory, and
 * may have any contents. */
void *array_long(size_t count, size_t item_bytes);

/* Appends a copy of a text to such an array of texts.  Returns 0 or -ENOMEM. */
int array_append_text(char ***array, size_t *count, const char *text);

/* Frees its texts and the array, and empties it. */
void array_free_texts(char ***array, size_t *count);

/* For qsort: compares two texts of an array by strcmp. */
int array_compare_texts(const void *a, const void *b);
