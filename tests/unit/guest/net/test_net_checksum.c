/* guest/net/net_checksum.c against RFC 1071's own words: a sum of 16-bit words with end-around
 * carry. */
#include "tests/unit/test.h"

#include <stdlib.h>
#include <string.h>

#include "guest/net/net_checksum.c"

static uint16_t by_words(const uint8_t *bytes, size_t count)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < count; i++) {
        sum += (uint32_t)bytes[i] << (i & 1 ? 8 : 0);
        sum = (sum & 0xffff) + (sum >> 16);
    }
    return (uint16_t)sum;
}

/* At the end of an allocation, where the sanitizer sees what is read beyond it. */
static void check(const uint8_t *bytes, size_t count)
{
    uint8_t *copy = malloc(count + 1); /* not aligned, and not of no bytes */

    memcpy(copy + 1, bytes, count);
    assert_int_equal(net_checksum(copy + 1, (int)count), by_words(bytes, count));
    free(copy);
}

static void test_example(void **state)
{
    /* RFC 1071, 3: 0001 f203 f4f5 f6f7 make ddf2, in network order */
    static const uint8_t example[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};

    (void)state;
    assert_int_equal(net_checksum(example, sizeof example), 0xf2dd);
    assert_int_equal(net_checksum(example, 0), 0);
}

static void test_all_lengths(void **state)
{
    struct test_random random = {42};
    uint8_t bytes[1600];

    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)test_random_next(&random);
    for (size_t count = 0; count <= sizeof bytes; count++)
        check(bytes, count);
}

/* Every addition carries. */
static void test_carries(void **state)
{
    uint8_t bytes[1600];

    (void)state;
    memset(bytes, 0xff, sizeof bytes);
    for (size_t count = 0; count <= sizeof bytes; count++)
        check(bytes, count);
    for (size_t i = 0; i < sizeof bytes; i += 8)
        bytes[i] = 0;
    for (size_t count = 0; count <= sizeof bytes; count++)
        check(bytes, count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example),
        cmocka_unit_test(test_all_lengths),
        cmocka_unit_test(test_carries),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
