/* What every unit test includes: cmocka with what it needs, and a repeatable random source. */
#ifndef TESTS_UNIT_TEST_H
#define TESTS_UNIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct test_random { /* xorshift64*; any state but 0 */
    uint64_t state;
};

static inline uint64_t test_random_next(struct test_random *r)
{
    r->state ^= r->state >> 12;
    r->state ^= r->state << 25;
    r->state ^= r->state >> 27;
    return r->state * 0x2545f4914f6cdd1dull;
}

/* A number below `limit`, which is not 0. */
static inline uint64_t test_random_below(struct test_random *r, uint64_t limit)
{
    return (test_random_next(r) >> 11) % limit;
}

#endif
