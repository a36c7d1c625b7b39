/* A fixed pseudo-random sequence: a Weyl counter through a 64-bit mixing function. */
#include "guest/base/random.h"

#include <errno.h>
#include <string.h>

#include "guest/vm/uaccess.h"

#define PART_BYTES 256u

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

int64_t random_to_user(uint64_t user, uint64_t bytes)
{
    uint8_t part[PART_BYTES];

    for (uint64_t done = 0; done < bytes;) {
        uint64_t count = bytes - done < sizeof part ? bytes - done : sizeof part;

        random_bytes(part, count);
        if (copy_to_user(user + done, part, count) != 0)
            return done ? (int64_t)done : -EFAULT;
        done += count;
    }
    return (int64_t)bytes;
}
