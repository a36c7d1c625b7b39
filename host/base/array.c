/* Doubles an array when its count reaches a power of two: it is full at no other count. */
#include "host/base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
