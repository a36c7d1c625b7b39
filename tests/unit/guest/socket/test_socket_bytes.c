/* Buffers of a call: parts in any number and length, and a program that changes them meanwhile. */
#include "guest/socket/socket_bytes.c"

#include "tests/unit/test.h"

#define BYTES 5000u

static uint8_t memory[BYTES], expected[BYTES];
static uint64_t bad_from; /* copies there and beyond fail */

int copy_from_user(void *to, uint64_t from, size_t bytes)
{
    if (bad_from && from + bytes > bad_from)
        return -EFAULT;
    memcpy(to, (const void *)from, bytes);
    return 0;
}

int copy_to_user(uint64_t to, const void *from, size_t bytes)
{
    if (bad_from && to + bytes > bad_from)
        return -EFAULT;
    memcpy((void *)to, from, bytes);
    return 0;
}

/* Cuts `memory` into parts. */
static uint32_t cut(struct test_random *random, struct iovec *parts, uint32_t most)
{
    uint32_t count = 0, at = 0;

    while (at < BYTES && count < most - 1) {
        uint32_t part = (uint32_t)test_random_below(random, 400);

        part = part < BYTES - at ? part : BYTES - at;
        parts[count++] = (struct iovec){memory + at, part};
        at += part;
    }
    parts[count++] = (struct iovec){memory + at, BYTES - at};
    return count;
}

static void same_as_one_buffer(void **state)
{
    struct test_random random = {3};

    (void)state;
    for (int round = 0; round < 300; round++) {
        struct iovec parts[50];
        uint32_t count = cut(&random, parts, 50), done = 0;
        bool put = round % 2;
        struct socket_bytes b;
        uint8_t got[BYTES];

        for (uint32_t i = 0; i < BYTES; i++)
            expected[i] = (uint8_t)test_random_next(&random);
        memcpy(memory, expected, put ? 0 : BYTES);
        assert_int_equal(socket_bytes_vectors(&b, (uint64_t)parts, count), 0);
        assert_int_equal(b.left, BYTES);
        while (b.left) {
            uint64_t part = test_random_below(&random, 700);

            part = part < b.left ? part : b.left;
            assert_int_equal(put ? socket_bytes_put(&b, expected + done, part)
                                 : socket_bytes_take(&b, got + done, part),
                             0);
            done += (uint32_t)part;
            assert_int_equal(b.left, BYTES - done);
        }
        assert_memory_equal(put ? memory : got, expected, BYTES);
    }
}

static void parts_that_change(void **state)
{
    struct iovec parts[2] = {{memory, 100}, {memory + 100, 100}};
    struct socket_bytes b;
    uint8_t got[BYTES];

    (void)state;
    assert_int_equal(socket_bytes_vectors(&b, (uint64_t)parts, 2), 0);
    parts[1].iov_len = 10;
    assert_int_equal(socket_bytes_take(&b, got, 110), 0);
    assert_int_equal(socket_bytes_take(&b, got, 1), -EFAULT);
    assert_int_equal(socket_bytes_vectors(&b, (uint64_t)parts, 1025), -EMSGSIZE);
    parts[0].iov_len = (size_t)-1;
    assert_int_equal(socket_bytes_vectors(&b, (uint64_t)parts, 2), -EINVAL);
    parts[0].iov_len = parts[1].iov_len = INT64_MAX;
    assert_int_equal(socket_bytes_vectors(&b, (uint64_t)parts, 2), 0);
    assert_int_equal(b.left, SYSCALL_IO_MAX);
}

static void bad_addresses(void **state)
{
    struct socket_bytes b = socket_bytes_user((uint64_t)memory, 100);

    (void)state;
    bad_from = (uint64_t)memory + 50;
    assert_int_equal(socket_bytes_put(&b, expected, 40), 0);
    assert_int_equal(socket_bytes_put(&b, expected, 20), -EFAULT);
    assert_int_equal(b.left, 60);
    bad_from = 0;
    b = socket_bytes_kernel(memory, 10);
    assert_int_equal(socket_bytes_put(&b, "0123456789", 10), 0);
    assert_memory_equal(memory, "0123456789", 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_one_buffer),
        cmocka_unit_test(parts_that_change),
        cmocka_unit_test(bad_addresses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
