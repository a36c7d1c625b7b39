/* Memory for arrays. */
#include "host/base/array.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LINE_BYTES 64u
#define HUGE_PAGE_BYTES ((size_t)2 << 20)

/* Doubles an array when its count reaches a power of two: it is full at no other count. */
int array_grow(void *array, size_t count, size_t item_bytes)
{
    void *items;

    if ((count & (count - 1)) != 0)
        return 0;
    memcpy(&items, array, sizeof items);
    items = reallocarray(items, count != 0 ? count * 2 : 1, item_bytes);
    if (items == NULL)
        return -ENOMEM;
    memcpy(array, &items, sizeof items);
    return 0;
}

/* Aligned to cache lines, or to huge pages where it is large. */
static void *allocate(size_t bytes)
{
    bool huge = bytes >= HUGE_PAGE_BYTES / 2;
    size_t unit = huge ? HUGE_PAGE_BYTES : LINE_BYTES;
    void *memory = aligned_alloc(unit, (bytes + unit - 1) / unit * unit);

    if (memory != NULL && huge)
        madvise(memory, (bytes + unit - 1) / unit * unit, MADV_HUGEPAGE); /* optional */
    return memory;
}

void *array_zeros(size_t bytes)
{
    void *zeros = allocate(bytes);

    if (zeros != NULL)
        memset(zeros, 0, bytes);
    return zeros;
}

void *array_long(size_t count, size_t item_bytes)
{
    return count <= SIZE_MAX / 2 / item_bytes ? allocate(count * item_bytes) : NULL;
}

int array_append_text(char ***array, size_t *count, const char *text)
{
    char *copy = strdup(text);

    if (copy == NULL || array_grow(array, *count, sizeof(*array)[0]) != 0) {
        free(copy);
        return -ENOMEM;
    }
    (*array)[(*count)++] = copy;
    return 0;
}

void array_free_texts(char ***array, size_t *count)
{
    for (size_t i = 0; i < *count; i++)
        free((*array)[i]);
    free(*array);
    *array = NULL;
    *count = 0;
}

int array_compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}
