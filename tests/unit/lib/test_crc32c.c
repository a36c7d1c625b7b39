/* CRC32C: the vectors of RFC 3720 B.4, and the two implementations against each other. */
#include "lib/crc32c.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

#define BUFFER_BYTES 20000u

static void both(const void *bytes, size_t count, uint32_t expected)
{
    assert_int_equal(crc32c(0, bytes, count), expected);
    assert_int_equal(crc32c_table(0, bytes, count), expected);
}

static void rfc3720_vectors(void **state)
{
    static const uint8_t read_command[48] = {
        0x01, 0xc0, 0, 0,    0, 0, 0, 0,    0,    0, 0, 0, 0, 0, 0, 0, 0x14, 0, 0, 0, 0, 0, 4, 0,
        0,    0,    0, 0x14, 0, 0, 0, 0x18, 0x28, 0, 0, 0, 0, 0, 0, 0, 2,    0, 0, 0, 0, 0, 0, 0};
    uint8_t bytes[32];

    (void)state;
    memset(bytes, 0, sizeof bytes);
    both(bytes, sizeof bytes, 0x8a9136aa);
    memset(bytes, 0xff, sizeof bytes);
    both(bytes, sizeof bytes, 0x62a8ab43);
    for (int i = 0; i < 32; i++)
        bytes[i] = (uint8_t)i;
    both(bytes, sizeof bytes, 0x46dd794e);
    for (int i = 0; i < 32; i++)
        bytes[i] = (uint8_t)(31 - i);
    both(bytes, sizeof bytes, 0x113fdb5c);
    both(read_command, sizeof read_command, 0xd9963a56);
    both("123456789", 9, 0xe3069283);
    both("", 0, 0);
}

/* Bit by bit, straight from the definition: the independent oracle. */
static uint32_t slow(uint32_t crc, const uint8_t *bytes, size_t count)
{
    crc = ~crc;
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? (crc >> 1) ^ 0x82f63b78u : crc >> 1;
    }
    return ~crc;
}

static void every_length_and_alignment(void **state)
{
    uint8_t *bytes = malloc(BUFFER_BYTES);
    struct test_random random = {1};

    (void)state;
    assert_non_null(bytes);
    for (size_t i = 0; i < BUFFER_BYTES; i++)
        bytes[i] = (uint8_t)test_random_next(&random);
    for (size_t count = 0; count < 200; count++) {
        const uint8_t *at = bytes + count % 17;

        assert_int_equal(crc32c(7, at, count), slow(7, at, count));
        assert_int_equal(crc32c_table(7, at, count), slow(7, at, count));
    }
    for (int round = 0; round < 300; round++) {
        size_t offset = test_random_below(&random, 64);
        size_t count = test_random_below(&random, BUFFER_BYTES - offset);
        uint32_t expected = slow(0, bytes + offset, count);

        both(bytes + offset, count, expected);
    }
    /* around the interleaved blocks of 3 * 1024 bytes */
    for (size_t count = 3064; count <= 3080; count++)
        both(bytes, count, slow(0, bytes, count));
    both(bytes, 6144, slow(0, bytes, 6144));
    free(bytes);
}

static void continues_a_checksum(void **state)
{
    static uint8_t bytes[9000];
    struct test_random random = {2};

    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)test_random_next(&random);
    for (size_t split = 0; split <= sizeof bytes; split += 487) {
        uint32_t first = crc32c(0, bytes, split);

        assert_int_equal(crc32c(first, bytes + split, sizeof bytes - split),
                         crc32c(0, bytes, sizeof bytes));
        assert_int_equal(crc32c_table(first, bytes + split, sizeof bytes - split),
                         crc32c(0, bytes, sizeof bytes));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rfc3720_vectors),
        cmocka_unit_test(every_length_and_alignment),
        cmocka_unit_test(continues_a_checksum),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
