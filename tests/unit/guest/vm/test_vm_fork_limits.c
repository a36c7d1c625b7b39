/* Forks of address spaces: what they inherit, what they need, and what happens without it. */
#include "tests/unit/guest/vm_fork_fixture.h"

static void test_advice_about_forks(void **state)
{
    struct vm_space *child;

    (void)state;
    map_at(BASE, 8 * KIB4, RW);
    for (unsigned i = 0; i < 8; i++)
        poke(BASE + i * KIB4, 1);
    assert_int_equal(vm_advise(&space, BASE + KIB4, KIB4, MADV_DONTFORK), 0);
    assert_int_equal(vm_advise(&space, BASE + 3 * KIB4, KIB4, MADV_WIPEONFORK), 0);
    assert_int_equal(vm_advise(&space, BASE + 5 * KIB4, 2 * KIB4, MADV_DONTFORK), 0);
    assert_int_equal(vm_advise(&space, BASE + 5 * KIB4, KIB4, MADV_DOFORK), 0);
    assert_int_equal(vm_lock(&space, BASE + 7 * KIB4, KIB4, true, true), 0);
    space.lock_future = true;
    child = forked_from(&space);
    assert_false(child->lock_future);
    assert_null(vm_find(child, BASE + KIB4));
    assert_null(vm_find(child, BASE + 6 * KIB4));
    assert_int_equal(peek_in(child, BASE + 5 * KIB4), 1);
    assert_int_equal(peek_in(child, BASE + 3 * KIB4), 0);
    assert_int_equal(peek_in(&space, BASE + 3 * KIB4), 1);
    assert_true(vm_find(&space, BASE + 7 * KIB4)->flags & VM_AREA_LOCKED);
    assert_false(vm_find(child, BASE + 7 * KIB4)->flags & VM_AREA_LOCKED);
    assert_int_equal(child->resident_bytes, 6 * KIB4);
    assert_int_equal(child->mapped_bytes, 6 * KIB4);
    vm_space_release(child);
    assert_no_counts();
    assert_int_equal(vm_map(&space, BASE + 16 * KIB4, KIB4, RW, VM_AREA_SHARED, true, false),
                     BASE + 16 * KIB4);
    assert_int_equal(vm_advise(&space, BASE + 16 * KIB4, KIB4, MADV_WIPEONFORK), -EINVAL);
}

static void test_limits_and_break_are_inherited(void **state)
{
    struct vm_space *child;

    (void)state;
    space.brk_start = space.brk_end = BASE;
    space.stack_limit = 1 << 20;
    vm_set_brk(&space, BASE + 100);
    poke(BASE + 99, 9);
    child = forked_from(&space);
    assert_int_equal(child->stack_limit, 1 << 20);
    assert_int_equal(vm_set_brk(child, BASE + 3 * KIB4), BASE + 3 * KIB4);
    assert_int_equal(peek_in(child, BASE + 99), 9);
    assert_int_equal(space.brk_end, BASE + 100);
    assert_null(vm_find(&space, BASE + 2 * KIB4));
    vm_space_release(child);
}

static void test_references(void **state)
{
    struct vm_space *child;
    uint64_t before;

    (void)state;
    map_at(BASE, KIB4, RW);
    poke(BASE, 1);
    before = free_after_warming_up();
    child = forked_from(&space);
    vm_space_hold(child);
    vm_space_release(child);
    assert_int_equal(peek_in(child, BASE), 1);
    child->loaded++; /* an idle CPU keeps it */
    vm_space_release(child);
    assert_int_equal(phys_free_bytes() + KIB4, before); /* the top table */
    assert_ptr_equal(vm_spaces, &space);
    vm_space_unload(child);
    assert_int_equal(phys_free_bytes(), before);
}

static void test_fork_needs_counts(void **state)
{
    struct vm_space *child;

    (void)state;
    map_at(BASE, KIB4, RW);
    poke(BASE, 1);
    while (phys_free_bytes() > 12 * KIB4)
        assert_int_not_equal(phys_alloc(0), 0);
    assert_int_equal(vm_space_fork(&space, &child), -ENOMEM);
    assert_null(vm_share_blocks);
    assert_true(writable_in(&space, BASE));
}

/* At every point where memory can run out. */
static void test_fork_without_memory_changes_nothing(void **state)
{
    struct vm_space *child = NULL;
    unsigned failed = 0;
    uint64_t before;

    (void)state;
    assert_int_equal(vm_map(&space, BASE + 16 * MIB2, 3 * MIB2, RW, VM_AREA_SHARED, true, false),
                     BASE + 16 * MIB2);
    poke(BASE + 16 * MIB2, 3); /* the inode has no need of memory for this page */
    poke(BASE + 17 * MIB2, 3);
    poke(BASE + 18 * MIB2, 3);
    for (unsigned i = 0; i < 70; i++) { /* areas enough for two pages of them */
        map_at(BASE + ((uint64_t)i << 30), KIB4, RW);
        poke(BASE + ((uint64_t)i << 30), (uint8_t)i);
    }
    assert_int_equal(vm_advise(&space, BASE + (5ull << 30), KIB4, MADV_WIPEONFORK), 0);
    before = space.resident_bytes;
    assert_int_equal(vm_share_open(), 0);
    for (unsigned leave = 0;; leave++) {
        uint64_t taken = 0, page;
        int error;

        while (phys_free_bytes() > leave * KIB4 && (page = phys_alloc(0)) != 0) {
            *(uint64_t *)phys_pointer(page) = taken;
            taken = page;
        }
        error = vm_space_fork(&space, &child);
        if (error) {
            assert_int_equal(error, -ENOMEM);
            failed++;
            assert_ptr_equal(vm_spaces, &space);
            assert_no_counts();
        }
        while (taken) {
            uint64_t next = *(uint64_t *)phys_pointer(taken);

            phys_free(taken, 0);
            taken = next;
        }
        for (unsigned i = 0; i < 70; i++)
            assert_int_equal(peek(BASE + ((uint64_t)i << 30)), i);
        assert_int_equal(peek(BASE + 16 * MIB2), 3);
        assert_int_equal(space.resident_bytes, before);
        if (!error)
            break;
    }
    assert_true(failed > 10);
    store_in(child, BASE + 16 * MIB2, 4);
    assert_int_equal(peek(BASE + 16 * MIB2), 4);
    vm_space_release(child);
    assert_no_counts();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_advice_about_forks),
        TEST(test_limits_and_break_are_inherited),
        TEST(test_references),
        TEST(test_fork_needs_counts),
        TEST(test_fork_without_memory_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
