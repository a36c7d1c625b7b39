/* guest/net/net_port.c: blocks for lwIP. */
#include "tests/unit/test.h"

#include <string.h>

#include "guest/net/net_port.c"

#define POOL_BYTES 65536

static uint8_t pool[POOL_BYTES] __attribute__((aligned(64)));

struct run_config run; /* no virtual time: net_port_pass returns at once */
struct apic_state apic;

void apic_timer_setup(uint8_t vector)
{
    (void)vector;
}

uint64_t run_ns_to_ticks(uint64_t ns)
{
    return ns;
}

uint64_t run_ticks_to_ns(uint64_t ticks)
{
    return ticks;
}

void panic(const char *format, ...)
{
    (void)format;
    abort();
}

static void test_sizes(void **state)
{
    (void)state;
    net_port_init(pool, sizeof pool);
    for (size_t bytes = 0; bytes <= 2032; bytes += 13) {
        uint8_t *block = net_port_allocate(bytes);

        assert_non_null(block);
        assert_int_equal((uintptr_t)block % 16, 0);
        assert_true(block > pool && block + bytes <= pool + sizeof pool);
        memset(block, 0xff, bytes);
        net_port_free(block);
    }
    assert_null(net_port_allocate(2033));
    assert_null(net_port_allocate(SIZE_MAX));
    net_port_free(NULL);
}

static void test_zeroed(void **state)
{
    (void)state;
    net_port_init(pool, sizeof pool);
    memset(pool, 0xff, sizeof pool);
    uint8_t *block = net_port_allocate_zeroed(3, 7);
    for (int i = 0; i < 21; i++)
        assert_int_equal(block[i], 0);
    assert_null(net_port_allocate_zeroed(SIZE_MAX, 2));
}

/* What is given back is given out again, and nothing overlaps. */
static void test_random(void **state)
{
    static struct {
        uint8_t *bytes;
        size_t count;
    } blocks[64];
    struct test_random random = {5};
    unsigned given = 0, refused = 0;

    (void)state;
    memset(blocks, 0, sizeof blocks);
    net_port_init(pool, sizeof pool);
    for (int i = 0; i < 100000; i++) {
        unsigned n = (unsigned)test_random_below(&random, 64);

        for (size_t at = 0; at < blocks[n].count; at++)
            assert_int_equal(blocks[n].bytes[at], n);
        net_port_free(blocks[n].bytes);
        blocks[n].count = (size_t)test_random_below(&random, 2033);
        blocks[n].bytes = net_port_allocate(blocks[n].count);
        if (blocks[n].bytes) {
            memset(blocks[n].bytes, (int)n, blocks[n].count);
            given++;
        } else {
            blocks[n].count = 0;
            refused++;
        }
    }
    assert_true(given > refused && refused > 0); /* it was full now and then */
}

static void test_random_numbers_differ(void **state)
{
    uint32_t first = net_port_random(), second = net_port_random();

    (void)state;
    assert_int_not_equal(first, second);
    assert_int_not_equal(second, net_port_random());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_zeroed),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_random_numbers_differ),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
