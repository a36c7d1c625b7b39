/* Forks of address spaces: what is shared, what is copied, what is counted, what is freed. */
#include "tests/unit/guest/vm_fork_fixture.h"

static void test_child_sees_what_the_parent_wrote(void **state)
{
    struct vm_space *child;

    (void)state;
    map_at(BASE, 8 * KIB4, RW);
    poke(BASE, 1);
    poke(BASE + KIB4, 2);
    child = forked_from(&space);
    assert_int_equal(child->resident_bytes, 2 * KIB4);
    assert_false(writable_in(&space, BASE));
    assert_false(writable_in(child, BASE));
    store_in(child, BASE, 10);
    store_in(&space, BASE + KIB4, 20);
    assert_int_equal(peek_in(&space, BASE), 1);
    assert_int_equal(peek_in(child, BASE), 10);
    assert_int_equal(peek_in(&space, BASE + KIB4), 20);
    assert_int_equal(peek_in(child, BASE + KIB4), 2);
    poke_in(child, BASE + 2 * KIB4, 3); /* new after the fork */
    assert_int_equal(peek_in(&space, BASE + 2 * KIB4), 0);
    assert_int_equal(child->resident_bytes, 3 * KIB4);
    vm_space_release(child);
    assert_no_counts();
    assert_int_equal(peek_in(&space, BASE), 1);
}

static void test_the_last_owner_writes_in_place(void **state)
{
    struct vm_space *child;
    uint64_t page, before;

    (void)state;
    map_at(BASE, 8 * KIB4, RW);
    poke(BASE, 1);
    poke(BASE + KIB4, 1);
    page = leaf(BASE) & VM_ENTRY_ADDRESS;
    child = forked_from(&space);
    store_in(child, BASE, 2);
    vm_space_release(child);
    before = phys_free_bytes();
    store_in(&space, BASE, 3);
    assert_int_equal(leaf(BASE) & VM_ENTRY_ADDRESS, page);
    assert_int_equal(phys_free_bytes(), before);
    store_in(&space, BASE + KIB4, 3);
    assert_int_equal(phys_free_bytes(), before);
}

static void test_a_child_that_writes_nothing_costs_no_pages(void **state)
{
    struct vm_space *child;
    uint64_t before, faults;

    (void)state;
    map_at(BASE, 4 * MIB2 + KIB4, RW);
    vm_advise(&space, BASE, 4 * MIB2, MADV_NOHUGEPAGE);
    for (uint64_t i = 0; i < 4 * MIB2; i += KIB4)
        poke(BASE + i, 7);
    before = free_after_warming_up();
    child = forked_from(&space);
    assert_true(before - phys_free_bytes() <= 4 * KIB4); /* tables above, areas, the space */
    assert_int_equal(child->resident_bytes, 4 * MIB2);
    vm_space_release(child);
    assert_int_equal(phys_free_bytes(), before);
    faults = space.faults;
    for (uint64_t i = 0; i < 4 * MIB2; i += KIB4)
        store_in(&space, BASE + i, 8);
    assert_true(space.faults - faults <= 5); /* one for each table */
    assert_int_equal(phys_free_bytes(), before);
}

static void test_chain_of_forks(void **state)
{
    struct vm_space *chain[6] = {&space};
    uint64_t before;

    (void)state;
    map_at(BASE, 64 * KIB4, RW);
    for (unsigned i = 0; i < 64; i++)
        poke(BASE + i * KIB4, (uint8_t)i);
    before = free_after_warming_up();
    for (unsigned n = 1; n < 6; n++) {
        chain[n] = forked_from(chain[n - 1]);
        store_in(chain[n], BASE + n * KIB4, (uint8_t)(100 + n));
    }
    for (unsigned n = 0; n < 6; n++)
        for (unsigned i = 0; i < 64; i++)
            assert_int_equal(peek_in(chain[n], BASE + i * KIB4), i && i <= n ? 100 + i : i);
    for (unsigned n = 1; n < 6; n += 2) /* out of order */
        vm_space_release(chain[n]);
    for (unsigned i = 0; i < 64; i++)
        assert_int_equal(peek_in(chain[4], BASE + i * KIB4), i && i <= 4 ? 100 + i : i);
    for (unsigned n = 2; n < 6; n += 2)
        vm_space_release(chain[n]);
    assert_no_counts();
    for (unsigned i = 0; i < 64; i++)
        store_in(&space, BASE + i * KIB4, 1);
    assert_int_equal(phys_free_bytes(), before);
}

static void test_protection_keeps_pages_shared(void **state)
{
    struct vm_space *child;

    (void)state;
    map_at(BASE, 4 * KIB4, RW);
    poke(BASE, 1);
    poke(BASE + KIB4, 2);
    child = forked_from(&space);
    assert_int_equal(vm_protect(child, BASE, 2 * KIB4, VM_READ), 0);
    assert_int_equal(vm_fault(child, BASE, WRITE_FAULT), -EACCES);
    assert_int_equal(vm_protect(child, BASE, 2 * KIB4, RW), 0);
    assert_false(writable_in(child, BASE));
    store_in(child, BASE, 9);
    assert_int_equal(peek_in(&space, BASE), 1);
    /* The kernel may write what the program may not: not to the other's page. */
    assert_int_equal(vm_protect(child, BASE + KIB4, KIB4, VM_READ), 0);
    assert_int_equal(vm_write(child, BASE + KIB4, &(uint8_t){8}, 1), 0);
    assert_false(writable_in(child, BASE + KIB4));
    assert_int_equal(peek_in(&space, BASE + KIB4), 2);
    assert_int_equal(peek_in(child, BASE + KIB4), 8);
    vm_space_release(child);
    assert_no_counts();
}

static void test_unmap_move_and_discard_in_a_child(void **state)
{
    struct vm_space *child;
    uint64_t before;
    int64_t to;

    (void)state;
    map_at(BASE, 32 * KIB4, RW);
    for (unsigned i = 0; i < 32; i++)
        poke(BASE + i * KIB4, (uint8_t)(1 + i));
    before = free_after_warming_up();
    child = forked_from(&space);
    assert_int_equal(vm_unmap(child, BASE, 4 * KIB4), 0);
    assert_int_equal(child->resident_bytes, 28 * KIB4);
    assert_int_equal(vm_advise(child, BASE + 4 * KIB4, KIB4, MADV_DONTNEED), 0);
    assert_int_equal(peek_in(child, BASE + 4 * KIB4), 0);
    to = vm_remap(child, BASE + 8 * KIB4, 4 * KIB4, 8 * KIB4, MREMAP_MAYMOVE, 0);
    assert_true(to > 0);
    assert_int_equal(peek_in(child, (uint64_t)to), 9);
    assert_false(writable_in(child, (uint64_t)to));
    store_in(child, (uint64_t)to, 99);
    for (unsigned i = 0; i < 32; i++)
        assert_int_equal(peek_in(&space, BASE + i * KIB4), 1 + i);
    /* And the parent's: the child keeps what it has. */
    assert_int_equal(vm_unmap(&space, BASE, 32 * KIB4), 0);
    assert_int_equal(space.resident_bytes, 0);
    assert_int_equal(peek_in(child, BASE + 16 * KIB4), 17);
    store_in(child, BASE + 16 * KIB4, 5);
    vm_space_release(child);
    assert_no_counts();
    assert_true(phys_free_bytes() >= before + 32 * KIB4);
}

/* The pages go into a table that is shared, too. */
static void test_move_beside_shared_pages(void **state)
{
    uint64_t to = BASE + 4 * MIB2 + KIB4;
    struct vm_space *child;

    (void)state;
    map_at(BASE, 2 * KIB4, RW);
    map_at(BASE + 4 * MIB2, KIB4, RW);
    poke(BASE, 1);
    poke(BASE + 4 * MIB2, 2);
    child = forked_from(&space);
    assert_int_equal(vm_remap(child, BASE, 2 * KIB4, 2 * KIB4, MREMAP_MAYMOVE | MREMAP_FIXED, to),
                     to);
    assert_null(vm_find(&space, to));
    assert_int_equal(leaf(to), 0);
    assert_int_equal(peek_in(&space, BASE), 1);
    assert_int_equal(peek_in(child, to), 1);
    vm_space_release(child);
    assert_no_counts();
}

static void test_large_pages(void **state)
{
    struct vm_space *child, *other;
    uint64_t before, page;

    (void)state;
    map_at(BASE, 2 * MIB2, RW);
    poke(BASE, 1);
    poke(BASE + MIB2 + 5 * KIB4, 2);
    page = leaf(BASE) & VM_ENTRY_ADDRESS;
    before = free_after_warming_up();
    child = forked_from(&space);
    other = forked_from(child);
    assert_true(*vm_table_look(child->root, BASE, VM_LEVEL_PAGE).entry & VM_ENTRY_LARGE);
    store_in(child, BASE + 3 * KIB4, 3); /* copies 4 KiB of it */
    assert_true(phys_free_bytes() + 16 * KIB4 > before);
    assert_int_equal(peek_in(child, BASE), 1);
    assert_int_equal(peek_in(&space, BASE + 3 * KIB4), 0);
    assert_int_equal(peek_in(other, BASE + 3 * KIB4), 0);
    assert_int_equal(vm_unmap(other, BASE + MIB2, KIB4), 0);
    assert_int_equal(peek_in(other, BASE + MIB2 + 5 * KIB4), 2);
    vm_space_release(child);
    vm_space_release(other);
    assert_no_counts();
    store_in(&space, BASE, 7); /* whole again */
    assert_true(leaf(BASE) & VM_ENTRY_LARGE);
    assert_int_equal(leaf(BASE) & VM_ENTRY_ADDRESS, page);
    assert_int_equal(phys_free_bytes(), before);
}

/* The parent goes first: a large page ends in pieces, and all of them are freed. */
static void test_large_page_outlives_its_parent(void **state)
{
    struct vm_space *parent = vm_space_new(), *child;
    uint64_t before;

    (void)state;
    map_at(BASE, KIB4, RW);
    before = free_after_warming_up();
    assert_int_equal(vm_map(parent, BASE, 2 * MIB2, RW, 0, true, false), BASE);
    poke_in(parent, BASE, 1);
    poke_in(parent, BASE + MIB2, 1);
    child = forked_from(parent);
    store_in(child, BASE + KIB4, 2);
    vm_space_release(parent);
    assert_int_equal(peek_in(child, BASE), 1);
    store_in(child, BASE + 2 * KIB4, 2);
    vm_space_release(child);
    assert_no_counts();
    assert_true(phys_free_bytes() + 2 * KIB4 >= before);
}

static void test_shared_memory_stays_shared(void **state)
{
    struct vm_space *child;
    uint64_t before;

    (void)state;
    assert_int_equal(vm_map(&space, BASE, 4 * MIB2, RW, VM_AREA_SHARED, true, false), BASE);
    poke(BASE, 1);
    poke(BASE + MIB2, 2);
    child = forked_from(&space);
    assert_int_equal(space.resident_bytes, 2 * MIB2);
    store_in(child, BASE, 3);
    assert_int_equal(peek_in(&space, BASE), 3);
    store_in(&space, BASE + MIB2 + 1, 4);
    assert_int_equal(peek_in(child, BASE + MIB2 + 1), 4);
    store_in(child, BASE + 3 * MIB2, 5); /* touched for the first time */
    assert_int_equal(peek_in(&space, BASE + 3 * MIB2), 5);
    before = phys_free_bytes();
    assert_int_equal(vm_unmap(&space, BASE, 4 * MIB2), 0);
    assert_true(phys_free_bytes() < before + 16 * KIB4);
    assert_int_equal(peek_in(child, BASE), 3);
    vm_space_release(child);
    assert_true(phys_free_bytes() > before + 2 * MIB2);
}

static void test_files_are_shown_in_both(void **state)
{
    struct vm_space *child;

    (void)state;
    fake_inode_open(4 * KIB4);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(
            vm_map_request(&space,
                           &(struct vm_request){.address = BASE + i * 8 * KIB4,
                                                .bytes = 4 * KIB4,
                                                .protection = RW,
                                                .flags = VM_AREA_FILE | (i ? VM_AREA_SHARED : 0),
                                                .fixed = true,
                                                .inode = &fake_file}),
            BASE + i * 8 * KIB4);
    poke(BASE, 50);
    assert_int_equal(vm_fault(&space, BASE + KIB4, READ_FAULT), 0);
    store_in(&space, BASE + 8 * KIB4 + 2 * KIB4, 60);
    child = forked_from(&space);
    assert_int_equal(fake_file.mappings, 4);
    assert_int_equal(fake_file.references, 5);
    store_in(child, BASE + 10 * KIB4, 61);
    assert_int_equal(peek_in(&space, BASE + 10 * KIB4), 61);
    store_in(child, BASE + KIB4, 70);
    assert_int_equal(peek_in(&space, BASE + KIB4), 2);
    assert_int_equal(peek_in(child, BASE), 50);
    /* Truncated: file's pages and copies past the end go in both. */
    fake_file.bytes = 0;
    vm_inode_changed(&fake_file, 0, UINT64_MAX);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(vm_fault(&space, BASE + i * KIB4, READ_FAULT), -ENXIO);
        assert_int_equal(vm_fault(child, BASE + i * KIB4, READ_FAULT), -ENXIO);
        assert_int_equal(vm_fault(child, BASE + (8 + i) * KIB4, READ_FAULT), -ENXIO);
    }
    assert_int_equal(space.resident_bytes, 0);
    assert_int_equal(child->resident_bytes, 0);
    vm_space_release(child);
    assert_int_equal(fake_file.mappings, 2);
    assert_no_counts();
}

/* A change of a file needs no memory, even if it finds shared tables. */
static void test_file_changes_when_memory_is_out(void **state)
{
    struct vm_space *child;

    (void)state;
    fake_inode_open(4 * KIB4);
    vm_map_request(&space, &(struct vm_request){.address = BASE,
                                                .bytes = 4 * KIB4,
                                                .protection = RW,
                                                .flags = VM_AREA_FILE,
                                                .fixed = true,
                                                .inode = &fake_file});
    poke(BASE, 50);
    assert_int_equal(vm_fault(&space, BASE + KIB4, READ_FAULT), 0);
    child = forked_from(&space);
    while (phys_alloc(0))
        ;
    vm_inode_changed(&fake_file, 1, 2);
    assert_false(leaf(BASE + KIB4) & VM_ENTRY_PRESENT);
    assert_false(*vm_table_look(child->root, BASE + KIB4, VM_LEVEL_PAGE).entry & VM_ENTRY_PRESENT);
    assert_int_equal(peek_in(child, BASE), 50);
    vm_space_release(child);
    assert_int_equal(peek_in(&space, BASE), 50);
    assert_no_counts();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_child_sees_what_the_parent_wrote),
        TEST(test_the_last_owner_writes_in_place),
        TEST(test_a_child_that_writes_nothing_costs_no_pages),
        TEST(test_chain_of_forks),
        TEST(test_protection_keeps_pages_shared),
        TEST(test_unmap_move_and_discard_in_a_child),
        TEST(test_move_beside_shared_pages),
        TEST(test_large_pages),
        TEST(test_large_page_outlives_its_parent),
        TEST(test_shared_memory_stays_shared),
        TEST(test_files_are_shown_in_both),
        TEST(test_file_changes_when_memory_is_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
