/* Integers of any length, wherever the bytes end. */
#include "lib/trace/varint.h"

#include "tests/unit/test.h"

static void what_is_put_is_got(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits <= 64; bits++) {
        uint64_t least = bits != 0 ? 1ull << (bits - 1) : 0;
        uint64_t values[] = {least, least | 0x5a5a5a5a5a5a5a5aull % (least | 1), 2 * least - 1};

        for (uint32_t i = 0; i < 3; i++) {
            uint8_t bytes[2 * VARINT_BYTES_MAX];
            uint8_t *end = varint_put(bytes, values[i]);
            uint64_t value;

            memset(end, 0xff, sizeof bytes - (size_t)(end - bytes));
            for (const uint8_t *stop = end; stop <= bytes + sizeof bytes; stop++) {
                assert_ptr_equal(varint_get(bytes, stop, &value), end);
                assert_true(value == values[i]);
            }
            for (const uint8_t *stop = bytes; stop < end; stop++)
                assert_null(varint_get(bytes, stop, &value));
        }
    }
}

static void more_than_64_bits_are_damage(void **state)
{
    uint8_t bytes[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2, 0, 0};
    uint64_t value;

    (void)state;
    assert_null(varint_get(bytes, bytes + sizeof bytes, &value));
    bytes[9] = 0x81;
    assert_null(varint_get(bytes, bytes + sizeof bytes, &value));
    bytes[9] = 1;
    assert_ptr_equal(varint_get(bytes, bytes + sizeof bytes, &value), bytes + 10);
    assert_true(value == 1ull << 63);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_put_is_got),
        cmocka_unit_test(more_than_64_bits_are_damage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
