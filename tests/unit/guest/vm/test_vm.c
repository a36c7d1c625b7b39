/* Address spaces: areas, pages, faults, protection. */
#include "tests/unit/guest/vm_fixture.h"

static void test_neighbours_join_and_split(void **state)
{
    (void)state;
    map_at(BASE, KIB4, RW);
    map_at(BASE + 2 * KIB4, KIB4, RW);
    assert_int_equal(count_areas(), 2);
    map_at(BASE + KIB4, KIB4, RW);
    assert_int_equal(count_areas(), 1);
    assert_int_equal(vm_protect(&space, BASE + KIB4, KIB4, VM_READ), 0);
    assert_int_equal(count_areas(), 3);
    assert_int_equal(vm_find(&space, BASE + KIB4)->protection, VM_READ);
    assert_int_equal(vm_protect(&space, BASE + KIB4, KIB4, RW), 0);
    assert_int_equal(count_areas(), 1);
    assert_int_equal(vm_unmap(&space, BASE + KIB4, KIB4), 0);
    assert_int_equal(count_areas(), 2);
    assert_null(vm_find(&space, BASE + KIB4));
    assert_int_equal(vm_unmap(&space, BASE, 3 * KIB4), 0);
    assert_int_equal(count_areas(), 0);
}

static void test_map_refuses(void **state)
{
    (void)state;
    assert_int_equal(vm_map(&space, 0, 0, RW, 0, false, false), -EINVAL);
    assert_int_equal(vm_map(&space, BASE + 1, KIB4, RW, 0, true, false), -EINVAL);
    assert_int_equal(vm_map(&space, 0, UINT64_MAX, 0, 0, false, false), -ENOMEM);
    assert_int_equal(vm_map(&space, 0, USER_END, 0, 0, false, false), -ENOMEM);
    assert_int_equal(vm_map(&space, 0, phys_total_bytes() + 1, RW, 0, false, false), -ENOMEM);
    assert_int_equal(vm_map(&space, USER_END, KIB4, RW, 0, true, false), -ENOMEM);
    assert_int_equal(vm_map(&space, DIRECT_MAP, KIB4, RW, 0, true, false), -ENOMEM);
    assert_int_equal(vm_map(&space, 0, KIB4, RW, 0, true, false), -EPERM);
    map_at(BASE, KIB4, RW);
    assert_int_equal(vm_map(&space, BASE, KIB4, RW, 0, true, true), -EEXIST);
    assert_int_equal(vm_unmap(&space, BASE + 1, KIB4), -EINVAL);
    assert_int_equal(vm_unmap(&space, BASE, 0), -EINVAL);
    assert_int_equal(vm_unmap(&space, USER_END - KIB4, 2 * KIB4), -EINVAL);
    assert_int_equal(vm_protect(&space, BASE, 2 * KIB4, RW), -ENOMEM);
    assert_int_equal(count_areas(), 1);
}

static void test_choice_is_top_down(void **state)
{
    int64_t first = vm_map(&space, 0, KIB4, RW, 0, false, false);
    int64_t second = vm_map(&space, 0, KIB4, VM_READ, 0, false, false);
    int64_t large = vm_map(&space, 0, 2 * MIB2, RW, 0, false, false);

    (void)state;
    assert_int_equal(first, VM_MAP_TOP - KIB4);
    assert_int_equal(second, first - (int64_t)KIB4);
    assert_int_equal(large % (int64_t)MIB2, 0);
    assert_int_equal(vm_map(&space, BASE + 5, KIB4, RW, 0, false, false), BASE);
    assert_int_equal(vm_unmap(&space, (uint64_t)first, KIB4), 0);
    assert_int_equal(vm_map(&space, 0, KIB4, RW, 0, false, false), first);
}

static void test_faults_follow_protection(void **state)
{
    (void)state;
    map_at(BASE, KIB4, VM_READ);
    map_at(BASE + KIB4, KIB4, 0);
    map_at(BASE + 2 * KIB4, KIB4, VM_READ | VM_EXEC);
    assert_int_equal(vm_fault(&space, BASE - 1, 4), -EFAULT);
    assert_int_equal(vm_fault(&space, DIRECT_MAP, 4), -EFAULT);
    assert_int_equal(vm_fault(&space, BASE, VM_FAULT_WRITE | 4), -EACCES);
    assert_int_equal(vm_fault(&space, BASE, VM_FAULT_FETCH | 4), -EACCES);
    assert_int_equal(vm_fault(&space, BASE + KIB4, 4), -EACCES);
    assert_int_equal(space.resident_bytes, 0);
    assert_int_equal(vm_fault(&space, BASE, 4), 0);
    assert_int_equal(vm_fault(&space, BASE, 5), 0); /* present by now: try again */
    assert_int_equal(vm_fault(&space, BASE + 2 * KIB4, VM_FAULT_FETCH | 4), 0);
    assert_int_equal(space.resident_bytes, 2 * KIB4);
    assert_true(leaf(BASE) & VM_ENTRY_NO_EXECUTE);
    assert_false(leaf(BASE) & VM_ENTRY_WRITE);
    assert_false(leaf(BASE + 2 * KIB4) & VM_ENTRY_NO_EXECUTE);
    assert_int_equal(vm_fault(&space, BASE, VM_FAULT_RESERVED | 5), -EFAULT);
}

static void test_new_pages_are_zero(void **state)
{
    (void)state;
    map_at(BASE, 3 * MIB2, RW);
    for (uint64_t i = 0; i < 3 * MIB2; i += 997)
        assert_int_equal(peek(BASE + i), 0);
    poke(BASE + KIB4, 1);
    assert_int_equal(vm_advise(&space, BASE + KIB4, KIB4, MADV_DONTNEED), 0);
    assert_int_equal(peek(BASE + KIB4), 0);
}

static void test_no_access_keeps_contents(void **state)
{
    (void)state;
    map_at(BASE, KIB4, RW);
    poke(BASE + 7, 42);
    assert_int_equal(vm_protect(&space, BASE, KIB4, 0), 0);
    assert_false(leaf(BASE) & VM_ENTRY_USER);
    assert_int_equal(vm_fault(&space, BASE, 5), -EACCES);
    assert_int_equal(vm_protect(&space, BASE, KIB4, VM_READ), 0);
    assert_true(leaf(BASE) & VM_ENTRY_USER);
    assert_int_equal(peek(BASE + 7), 42);
}

static void test_large_pages_split(void **state)
{
    uint64_t free_before = phys_free_bytes();

    (void)state;
    map_at(BASE, 2 * MIB2, RW);
    poke(BASE, 1);
    poke(BASE + MIB2, 2);
    poke(BASE + MIB2 + KIB4, 3);
    assert_true(leaf(BASE) & VM_ENTRY_LARGE);
    assert_int_equal(space.resident_bytes, 2 * MIB2);
    assert_int_equal(vm_unmap(&space, BASE + MIB2 + 2 * KIB4, KIB4), 0);
    assert_false(leaf(BASE + MIB2) & VM_ENTRY_LARGE);
    assert_true(leaf(BASE) & VM_ENTRY_LARGE);
    assert_int_equal(space.resident_bytes, 2 * MIB2 - KIB4);
    assert_int_equal(peek(BASE + MIB2), 2);
    assert_int_equal(peek(BASE + MIB2 + KIB4), 3);
    assert_int_equal(vm_protect(&space, BASE + KIB4, KIB4, VM_READ), 0);
    assert_false(leaf(BASE + KIB4) & VM_ENTRY_WRITE);
    assert_true(leaf(BASE) & VM_ENTRY_WRITE);
    assert_int_equal(peek(BASE), 1);
    assert_int_equal(vm_unmap(&space, BASE, 2 * MIB2), 0);
    assert_int_equal(space.resident_bytes, 0);
    /* All but the area pool's page came back, page tables too. */
    assert_int_equal(free_before - phys_free_bytes(), KIB4);
}

static void test_remap_moves_and_grows(void **state)
{
    int64_t moved;

    (void)state;
    map_at(BASE, 2 * MIB2, RW);
    map_at(BASE + 2 * MIB2, KIB4, VM_READ);
    poke(BASE, 1);
    poke(BASE + MIB2 + 5, 2);
    assert_int_equal(vm_remap(&space, BASE, 2 * MIB2, 3 * MIB2, 0, 0), -ENOMEM);
    moved = vm_remap(&space, BASE, 2 * MIB2, 3 * MIB2, MREMAP_MAYMOVE, 0);
    assert_true(moved > 0);
    assert_null(vm_find(&space, BASE));
    assert_int_equal(peek((uint64_t)moved), 1);
    assert_int_equal(peek((uint64_t)moved + MIB2 + 5), 2);
    assert_int_equal(peek((uint64_t)moved + 2 * MIB2), 0);
    assert_true(leaf((uint64_t)moved) & VM_ENTRY_LARGE);
    /* To an address where large pages do not fit. */
    assert_int_equal(vm_remap(&space, (uint64_t)moved, 3 * MIB2, 3 * MIB2,
                              MREMAP_MAYMOVE | MREMAP_FIXED, BASE + 8 * MIB2 + KIB4),
                     BASE + 8 * MIB2 + KIB4);
    assert_int_equal(peek(BASE + 8 * MIB2 + KIB4), 1);
    assert_int_equal(peek(BASE + 9 * MIB2 + KIB4 + 5), 2);
    assert_int_equal(vm_remap(&space, BASE + 8 * MIB2 + KIB4, 3 * MIB2, KIB4, 0, 0),
                     BASE + 8 * MIB2 + KIB4);
    assert_int_equal(vm_remap(&space, BASE, KIB4, KIB4, 0, 0), -EFAULT);
    assert_int_equal(vm_remap(&space, BASE + 8 * MIB2 + KIB4, KIB4, KIB4, MREMAP_FIXED, BASE),
                     -EINVAL);
    count_areas();
}

static void test_break(void **state)
{
    (void)state;
    space.brk_start = space.brk_end = BASE;
    assert_int_equal(vm_set_brk(&space, 0), BASE);
    assert_int_equal(vm_set_brk(&space, BASE + 100), BASE + 100);
    poke(BASE + 99, 9);
    assert_int_equal(vm_set_brk(&space, BASE + 3 * KIB4), BASE + 3 * KIB4);
    assert_int_equal(peek(BASE + 99), 9);
    assert_int_equal(count_areas(), 1);
    map_at(BASE + 4 * KIB4, KIB4, RW);
    assert_int_equal(vm_set_brk(&space, BASE + 5 * KIB4), BASE + 3 * KIB4);
    assert_int_equal(vm_set_brk(&space, USER_END), BASE + 3 * KIB4);
    assert_int_equal(vm_set_brk(&space, BASE), BASE);
    assert_null(vm_find(&space, BASE));
}

static void test_memory_runs_out_cleanly(void **state)
{
    uint64_t filled = 0, room;
    void *p;
    int error = 0;

    (void)state;
    map_at(BASE, phys_total_bytes(), RW);
    while (!error && filled < phys_total_bytes()) {
        error = vm_access(&space, BASE + filled, VM_ACCESS_WRITE, &p, &room);
        if (!error)
            filled += room;
    }
    assert_int_equal(error, -ENOMEM);
    assert_int_equal(space.resident_bytes, filled);
    assert_true(filled > phys_total_bytes() * 9 / 10);
    assert_int_equal(vm_unmap(&space, BASE, phys_total_bytes()), 0);
    assert_int_equal(space.resident_bytes, 0);
    assert_true(phys_free_bytes() > phys_total_bytes() * 9 / 10);
}

#define SHADOW_PAGES 1200u

/* Random operations against a plain array of what each page should hold and allow. */
static void test_random_operations(void **state)
{
    static int16_t value[SHADOW_PAGES]; /* -1: not mapped; otherwise the page's first byte */
    struct test_random random = {.state = 7};

    (void)state;
    memset(value, 0xff, sizeof value);
    for (int round = 0; round < 3000; round++) {
        uint64_t page = test_random_below(&random, SHADOW_PAGES);
        uint64_t count = 1 + test_random_below(&random, round % 3 ? 30 : SHADOW_PAGES - page);
        uint64_t address = BASE + page * KIB4;

        if (count > SHADOW_PAGES - page)
            count = SHADOW_PAGES - page;
        switch (test_random_below(&random, 4)) {
        case 0:
            map_at(address, count * KIB4, RW);
            memset(&value[page], 0, count * sizeof value[0]);
            break;
        case 1:
            assert_int_equal(vm_unmap(&space, address, count * KIB4), 0);
            memset(&value[page], 0xff, count * sizeof value[0]);
            break;
        case 2:
            (void)vm_protect(&space, address, count * KIB4, round & 1 ? RW : 0);
            break;
        default:
            if (value[page] >= 0) {
                value[page] = (int16_t)(round & 0xff);
                poke(address, (uint8_t)round);
            }
            break;
        }
        count_areas();
    }
    for (uint64_t page = 0; page < SHADOW_PAGES; page++) {
        if (value[page] >= 0)
            assert_int_equal(peek(BASE + page * KIB4), value[page]);
        else
            assert_null(vm_find(&space, BASE + page * KIB4));
    }
}

static void test_memory_is_free_only_after_a_flush(void **state)
{
    uint64_t before, after;

    (void)state;
    map_at(BASE, 2 * KIB4, RW);
    assert_int_equal(vm_fault(&space, BASE, VM_FAULT_USER | VM_FAULT_WRITE), 0);
    assert_int_equal(vm_fault(&space, BASE + KIB4, VM_FAULT_USER | VM_FAULT_WRITE), 0);
    before = phys_free_bytes();
    flushes = 0;
    assert_int_equal(vm_unmap(&space, BASE, 2 * KIB4), 0);
    after = phys_free_bytes();
    assert_int_equal(flushes, 2);
    assert_int_equal(free_at_flush[0], before); /* neither pages nor tables */
    assert_int_equal(free_at_flush[1], before + 2 * KIB4); /* the pages, but no table */
    assert_int_equal(after, before + 5 * KIB4); /* and three tables */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_space, close_space)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_neighbours_join_and_split),
        TEST(test_map_refuses),
        TEST(test_choice_is_top_down),
        TEST(test_faults_follow_protection),
        TEST(test_new_pages_are_zero),
        TEST(test_no_access_keeps_contents),
        TEST(test_large_pages_split),
        TEST(test_remap_moves_and_grows),
        TEST(test_break),
        TEST(test_memory_runs_out_cleanly),
        TEST(test_memory_is_free_only_after_a_flush),
        TEST(test_random_operations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
