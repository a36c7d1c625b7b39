/* A fixed pseudo-random sequence: a Weyl counter through a 64-bit mixing function. */
#include "guest/base/random.h"

#include <string.h>

static uint64_t counter = 0x6d6963726f746f6dull;

static uint64_t next_word(void)
{
    uint64_t x;

    counter += 0x9e3779b97f4a7c15ull;
    x = counter;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

void random_bytes(void *to, size_t bytes)
{
    uint8_t *p = to;

    while (bytes) {
        uint64_t word = next_word();
        size_t part = bytes < sizeof word ? bytes : sizeof word;

        memcpy(p, &word, part);
        p += part;
        bytes -= part;
    }
}
