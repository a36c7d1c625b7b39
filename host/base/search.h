/* Binary search by address in an array whose elements begin with their start, a u64, ascending. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Returns how many elements start at or before an address.  Branches on the comparison are avoided:
 * for random addresses the CPU would mispredict every second one. */
static inline size_t search_address(const void *array, size_t element_bytes, size_t count,
                                    uint64_t address)
{
    const char *first = array;
    uint64_t start;

    if (count == 0)
        return 0;
    while (count > 1) {
        size_t half = count / 2;

        memcpy(&start, first + half * element_bytes, sizeof start);
        first += start <= address ? half * element_bytes : 0;
        count -= half;
    }
    memcpy(&start, first, sizeof start);
    return (size_t)(first - (const char *)array) / element_bytes + (start <= address ? 1 : 0);
}
