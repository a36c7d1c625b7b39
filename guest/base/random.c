/* A fixed pseudo-random sequence. */
#include "guest/base/random.h"

#include <string.h>

#include "lib/splitmix.h"

static uint64_t state = 0x6d6963726f746f6dull;

void random_bytes(void *to, size_t bytes)
{
    uint8_t *p = to;

    while (bytes) {
        uint64_t word = splitmix_next(&state);
        size_t part = bytes < sizeof word ? bytes : sizeof word;

        memcpy(p, &word, part);
        p += part;
        bytes -= part;
    }
}
