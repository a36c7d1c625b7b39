/* What every unit test includes: cmocka with what it needs, and a repeatable random source. */
#ifndef TESTS_UNIT_TEST_H
#define TESTS_UNIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* cmocka compares byte by byte, which only a difference needs. */
static inline bool test_memory_is_same(const void *a, const void *b, size_t bytes)
{
    return memcmp(a, b, bytes) == 0;
}
#undef assert_memory_equal
#define assert_memory_equal(a, b, bytes)              \
    ((void)(test_memory_is_same((a), (b), (bytes)) || \
            (_assert_memory_equal((a), (b), (bytes), __FILE__, __LINE__), false)))

struct test_random { /* xorshift64*; any state but 0 */
    uint64_t state;
};

static inline uint64_t test_random_next(struct test_random *r)
{
    uint64_t state = r->state; /* under the sanitizers each access to memory is dear */

    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    r->state = state;
    return state * 0x2545f4914f6cdd1dull;
}

/* Fills a buffer with random bytes, eight at a time. */
static inline void test_random_fill(struct test_random *r, void *to, size_t bytes)
{
    while (bytes != 0) {
        uint64_t eight = test_random_next(r);
        size_t part = bytes < sizeof eight ? bytes : sizeof eight;

        memcpy(to, &eight, part);
        to = (uint8_t *)to + part;
        bytes -= part;
    }
}

/* A number below `limit`, which is not 0. */
static inline uint64_t test_random_below(struct test_random *r, uint64_t limit)
{
    return (test_random_next(r) >> 11) % limit;
}

#endif
