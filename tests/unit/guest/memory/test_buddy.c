/* The buddy allocator: alignment, splitting, merging, exhaustion, random use against a map. */
#include "tests/unit/guest/fake_phys.h"

#include "tests/unit/test.h"

#define PAGES 3000u /* not a multiple of the largest block */

static uint64_t first_address(void)
{
    return arena.first_page * PAGE_BYTES;
}

static int open_arena(void **state)
{
    (void)state;
    fake_phys_open(PAGES);
    return 0;
}

static int close_arena(void **state)
{
    (void)state;
    fake_phys_close();
    return 0;
}

static void test_everything_can_be_taken_and_given_back(void **state)
{
    uint64_t pages[PAGES];
    uint32_t seen[PAGES] = {0};

    (void)state;
    for (size_t i = 0; i < PAGES; i++) {
        pages[i] = phys_alloc(0);
        assert_true(pages[i] >= first_address());
        assert_true(pages[i] < first_address() + PAGES * (uint64_t)PAGE_BYTES);
        seen[(pages[i] - first_address()) / PAGE_BYTES]++;
    }
    for (size_t i = 0; i < PAGES; i++)
        assert_int_equal(seen[i], 1);
    assert_int_equal(phys_alloc(0), 0);
    assert_int_equal(phys_free_bytes(), 0);
    for (size_t i = 0; i < PAGES; i++)
        phys_free(pages[i], 0);
    assert_int_equal(phys_free_bytes(), PAGES * (uint64_t)PAGE_BYTES);
    /* 3000 pages hold two blocks of 1024 and a third would not fit: all were merged again. */
    assert_int_not_equal(phys_alloc(10), 0);
    assert_int_not_equal(phys_alloc(10), 0);
    assert_int_equal(phys_alloc(10), 0);
    assert_int_not_equal(phys_alloc(9), 0);
}

static void test_blocks_are_aligned(void **state)
{
    (void)state;
    for (unsigned order = 0; order <= PHYS_ORDER_MAX; order++) {
        uint64_t block = phys_alloc(order);

        assert_int_not_equal(block, 0);
        assert_int_equal((block - first_address()) % ((uint64_t)PAGE_BYTES << order), 0);
    }
}

static void test_least_free_is_remembered(void **state)
{
    uint64_t block = phys_alloc(10);

    (void)state;
    phys_free(block, 10);
    assert_int_equal(arena.free_bytes, PAGES * (uint64_t)PAGE_BYTES);
    assert_int_equal(arena.total_bytes - arena.least_free_bytes, 1024 * (uint64_t)PAGE_BYTES);
}

static void test_parts_of_a_block_can_be_freed(void **state)
{
    uint64_t block = phys_alloc(9), before = phys_free_bytes();

    (void)state;
    for (uint64_t i = 0; i < 512; i++)
        phys_free(block + (i * 7 % 512) * PAGE_BYTES, 0);
    assert_int_equal(phys_free_bytes(), before + 512 * (uint64_t)PAGE_BYTES);
    assert_int_not_equal(phys_alloc(10), 0);
    assert_int_not_equal(phys_alloc(10), 0);
}

struct held {
    uint64_t address;
    unsigned order;
};

static void mark(uint8_t *map, const struct held *h, uint8_t from, uint8_t to)
{
    uint64_t page = (h->address - first_address()) / PAGE_BYTES;

    for (uint64_t i = 0; i < 1ull << h->order; i++) {
        assert_int_equal(map[page + i], from);
        map[page + i] = to;
    }
}

static void test_random_use_never_overlaps(void **state)
{
    struct test_random random = {.state = 42};
    uint8_t map[PAGES] = {0};
    struct held held[256];
    size_t count = 0;

    (void)state;
    for (int round = 0; round < 20000; round++) {
        if (count < 256 && test_random_below(&random, 2)) {
            struct held *h = &held[count];

            h->order = (unsigned)test_random_below(&random, 8);
            h->address = buddy_alloc(&arena, h->order);
            if (h->address) {
                mark(map, h, 0, 1);
                count++;
            }
        } else if (count) {
            size_t which = test_random_below(&random, count);

            mark(map, &held[which], 1, 0);
            buddy_free(&arena, held[which].address, held[which].order);
            held[which] = held[--count];
        }
    }
    while (count--)
        buddy_free(&arena, held[count].address, held[count].order);
    assert_int_equal(phys_free_bytes(), PAGES * (uint64_t)PAGE_BYTES);
    assert_int_not_equal(phys_alloc(10), 0);
    assert_int_not_equal(phys_alloc(10), 0);
}

static void test_order_of_bytes(void **state)
{
    (void)state;
    assert_int_equal(phys_order(0), 0);
    assert_int_equal(phys_order(4096), 0);
    assert_int_equal(phys_order(4097), 1);
    assert_int_equal(phys_order(4u << 20), 10);
    assert_int_equal(phys_order((4u << 20) + 1), PHYS_ORDER_MAX + 1);
    assert_int_equal(phys_order(UINT64_MAX), PHYS_ORDER_MAX + 1);
}

static void test_last_blocks_are_out_of_the_way(void **state)
{
    uint64_t offsets[500], last = UINT64_MAX;

    for (int taken = 0; taken < 2; taken++) {
        if (taken)
            assert_int_not_equal(buddy_alloc_last(&arena), 0);
        for (unsigned i = 0; i < 500; i++) {
            uint64_t offset = phys_alloc(i % 3) - first_address();

            if (taken) /* where it is without */
                assert_int_equal(offset, offsets[i]);
            offsets[i] = offset;
        }
        close_arena(state);
        open_arena(state);
    }
    uint64_t free_bytes = phys_free_bytes();
    for (uint64_t block; (block = buddy_alloc_last(&arena)); last = block) {
        assert_true(block < last);
        free_bytes -= (uint64_t)PAGE_BYTES << (BUDDY_ORDERS - 1);
        assert_int_equal(phys_free_bytes(), free_bytes);
    }
    assert_true(last < UINT64_MAX);
    assert_int_equal(phys_alloc(BUDDY_ORDERS - 1), 0);
}

static void test_runs_are_freed_as_blocks(void **state)
{
    uint64_t before = phys_free_bytes(), first = phys_alloc(5), second;

    (void)state;
    assert_int_not_equal(first, 0);
    phys_free_pages(first + PAGE_BYTES, 31);
    phys_free_pages(first, 0);
    assert_int_equal(phys_free_bytes(), before - PAGE_BYTES);
    phys_free_pages(first, 1);
    assert_int_equal(phys_free_bytes(), before);
    second = phys_alloc(5); /* the pieces have become one block again */
    assert_int_equal(second, first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_everything_can_be_taken_and_given_back, open_arena,
                                        close_arena),
        cmocka_unit_test_setup_teardown(test_blocks_are_aligned, open_arena, close_arena),
        cmocka_unit_test_setup_teardown(test_least_free_is_remembered, open_arena, close_arena),
        cmocka_unit_test_setup_teardown(test_parts_of_a_block_can_be_freed, open_arena,
                                        close_arena),
        cmocka_unit_test_setup_teardown(test_random_use_never_overlaps, open_arena, close_arena),
        cmocka_unit_test_setup_teardown(test_last_blocks_are_out_of_the_way, open_arena,
                                        close_arena),
        cmocka_unit_test_setup_teardown(test_runs_are_freed_as_blocks, open_arena, close_arena),
        cmocka_unit_test(test_order_of_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
