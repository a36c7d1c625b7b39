/* Mapped memory: random calls against an array of pages. */
#include "host/memory/allocations/memory_mapped.h"

#include <linux/mman.h>

#include "tests/unit/test.h"

#define PAGES 64u
#define PAGE 4096u
#define NONE 255u

static void expect(const struct memory_mapped *m, const uint8_t pages[PAGES])
{
    uint64_t live[MEMORY_MAPPED_KINDS] = {0};

    for (uint32_t i = 0; i < PAGES; i++)
        if (pages[i] != NONE)
            live[pages[i]] += PAGE;
    for (int i = 0; i < MEMORY_MAPPED_KINDS; i++)
        assert_int_equal(m->kinds[i].live, live[i]);
}

static void set(uint8_t pages[PAGES], uint64_t first, uint64_t count, uint8_t kind)
{
    for (uint64_t i = first; i < first + count; i++)
        pages[i] = kind;
}

static struct hr_rec_mapping map_of(uint64_t first, uint64_t count, uint8_t kind)
{
    struct hr_rec_mapping r = {.kind = HR_MAPPING_MAP,
                               .address = (1 + first) * PAGE,
                               .bytes = count * PAGE,
                               .protection = kind != MEMORY_MAPPED_RESERVED};

    r.flags = kind == MEMORY_MAPPED_SHARED  ? MAP_SHARED
              : kind == MEMORY_MAPPED_FILES ? MAP_PRIVATE
                                            : MAP_PRIVATE | MAP_ANONYMOUS;
    return r;
}

static void random_calls(void **state)
{
    struct memory_mapped m = {0};
    struct test_random random = {11};
    uint8_t pages[PAGES];

    (void)state;
    set(pages, 0, PAGES, NONE);
    for (int n = 0; n < 20000; n++) {
        uint64_t first = test_random_below(&random, PAGES / 2);
        uint64_t count = 1 + test_random_below(&random, PAGES / 4);
        uint8_t kind = (uint8_t)test_random_below(&random, MEMORY_MAPPED_HEAP + 1);
        struct hr_rec_mapping r = map_of(first, count, kind);

        if (kind == MEMORY_MAPPED_HEAP) {
            r.kind = HR_MAPPING_UNMAP;
            kind = NONE;
        }
        set(pages, first, count, kind);
        assert_int_equal(memory_mapped_take(&m, 1000, &r), 0);
        r.address += 7 * PAGE; /* another process's */
        assert_int_equal(memory_mapped_take(&m, 999, &r), 0);
        memory_mapped_end(&m, 999);
        expect(&m, pages);
    }
    memory_mapped_end(&m, 1000);
    assert_int_equal(m.count, 0);
    memory_mapped_free(&m);
}

static void moves(void **state)
{
    struct memory_mapped m = {0};
    struct hr_rec_mapping r = map_of(0, 4, MEMORY_MAPPED_ANONYMOUS);

    (void)state;
    assert_int_equal(memory_mapped_take(&m, 1, &r), 0);
    r = (struct hr_rec_mapping){.kind = HR_MAPPING_MOVE,
                                .address = 100 * PAGE,
                                .bytes = 9 * PAGE,
                                .old_address = PAGE,
                                .old_bytes = 4 * PAGE};
    assert_int_equal(memory_mapped_take(&m, 1, &r), 0);
    assert_int_equal(m.kinds[MEMORY_MAPPED_ANONYMOUS].live, 9 * PAGE);
    assert_int_equal(m.kinds[MEMORY_MAPPED_ANONYMOUS].bytes, 9 * PAGE);
    r = (struct hr_rec_mapping){.kind = HR_MAPPING_BREAK, .address = 0x9000, .old_address = 0x5000};
    assert_int_equal(memory_mapped_take(&m, 1, &r), 0);
    r = (struct hr_rec_mapping){.kind = HR_MAPPING_BREAK, .address = 0x6000, .old_address = 0x9000};
    assert_int_equal(memory_mapped_take(&m, 1, &r), 0);
    assert_int_equal(m.kinds[MEMORY_MAPPED_HEAP].live, 0x1000);
    assert_int_equal(m.kinds[MEMORY_MAPPED_HEAP].peak, 0x4000);
    r = (struct hr_rec_mapping){
        .kind = HR_MAPPING_MAP, .address = UINT64_MAX - 5, .bytes = 4096}; /* beyond all */
    assert_int_equal(memory_mapped_take(&m, 1, &r), 0);
    memory_mapped_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_calls),
        cmocka_unit_test(moves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
