/* Areas that show files, areas that grow, what programs say of memory. */
#include "tests/unit/guest/vm_fixture.h"

#define READ_FAULT VM_FAULT_USER
#define WRITE_FAULT (VM_FAULT_USER | VM_FAULT_WRITE)

static int64_t map_file(uint64_t address, uint64_t bytes, uint32_t protection, uint32_t flags,
                        uint64_t offset)
{
    return vm_map_request(&space, &(struct vm_request){.address = address,
                                                       .bytes = bytes,
                                                       .protection = protection,
                                                       .flags = flags | VM_AREA_FILE,
                                                       .fixed = true,
                                                       .inode = &fake_file,
                                                       .offset = offset});
}

static uint64_t page_at(uint64_t address)
{
    return leaf(address) & VM_ENTRY_ADDRESS;
}

static void test_private_pages_are_copied_when_written(void **state)
{
    (void)state;
    fake_inode_open(3 * KIB4);
    assert_int_equal(map_file(BASE, 4 * KIB4, RW, 0, 0), BASE);
    assert_int_equal(vm_fault(&space, BASE + KIB4, READ_FAULT), 0);
    assert_int_equal(page_at(BASE + KIB4), fake_pages[1]);
    assert_true(leaf(BASE + KIB4) & VM_ENTRY_FOREIGN);
    assert_false(leaf(BASE + KIB4) & VM_ENTRY_WRITE);
    flushes = 0;
    assert_int_equal(vm_fault(&space, BASE + KIB4 + 5, WRITE_FAULT), 0);
    assert_int_equal(flushes, 1); /* who still reads the file's page must forget it */
    assert_int_not_equal(page_at(BASE + KIB4), fake_pages[1]);
    assert_true(leaf(BASE + KIB4) & VM_ENTRY_WRITE);
    assert_false(leaf(BASE + KIB4) & VM_ENTRY_FOREIGN);
    poke(BASE + KIB4, 99);
    assert_int_equal(*(uint8_t *)phys_pointer(fake_pages[1]), 2);
    assert_int_equal(fake_writes, 0);
    assert_int_equal(vm_fault(&space, BASE + 3 * KIB4, READ_FAULT), -ENXIO);
    assert_int_equal(vm_advise(&space, BASE, 4 * KIB4, MADV_DONTNEED), 0);
    assert_int_equal(peek(BASE + KIB4), 2);
}

static void test_protection_does_not_open_the_file(void **state)
{
    (void)state;
    fake_inode_open(2 * KIB4);
    map_file(BASE, 2 * KIB4, VM_READ, 0, 0);
    assert_int_equal(vm_fault(&space, BASE, READ_FAULT), 0);
    assert_int_equal(vm_fault(&space, BASE, WRITE_FAULT), -EACCES);
    assert_int_equal(vm_protect(&space, BASE, KIB4, RW), 0);
    assert_false(leaf(BASE) & VM_ENTRY_WRITE);
    assert_int_equal(vm_fault(&space, BASE, WRITE_FAULT), 0);
    assert_int_not_equal(page_at(BASE), fake_pages[0]);
    map_file(BASE, KIB4, VM_READ, VM_AREA_SHARED | VM_AREA_READ_FILE, 0);
    assert_int_equal(vm_protect(&space, BASE, KIB4, RW), -EACCES);
}

static void test_shared_pages_are_the_files(void **state)
{
    (void)state;
    fake_inode_open(2 * KIB4);
    map_file(BASE, 2 * KIB4, RW, VM_AREA_SHARED, 0);
    map_file(BASE + 8 * KIB4, KIB4, VM_READ, VM_AREA_SHARED, KIB4);
    assert_int_equal(vm_fault(&space, BASE + KIB4, READ_FAULT), 0);
    assert_int_equal(fake_writes, 0);
    assert_int_equal(vm_fault(&space, BASE + KIB4, WRITE_FAULT), 0);
    assert_int_equal(fake_writes, 1);
    assert_int_equal(page_at(BASE + KIB4), fake_pages[1]);
    poke(BASE + KIB4 + 7, 77);
    assert_int_equal(peek(BASE + 8 * KIB4 + 7), 77);
    assert_int_equal(vm_protect(&space, BASE, 2 * KIB4, VM_READ), 0);
    assert_int_equal(vm_protect(&space, BASE, 2 * KIB4, RW), 0);
    assert_int_equal(vm_fault(&space, BASE + KIB4, WRITE_FAULT), 0);
    assert_int_equal(vm_unmap(&space, BASE, 9 * KIB4), 0);
    assert_int_equal(fake_file.references, 1);
    assert_int_equal(fake_file.mappings, 0);
    assert_int_equal(space.resident_bytes, 0);
}

static void test_areas_hold_their_file(void **state)
{
    (void)state;
    fake_inode_open(8 * KIB4);
    map_file(BASE, 8 * KIB4, RW, 0, 0);
    assert_int_equal(fake_file.mappings, 1);
    vm_protect(&space, BASE + 2 * KIB4, KIB4, VM_READ);
    assert_int_equal(fake_file.mappings, 3);
    assert_int_equal(fake_file.references, 4);
    assert_int_equal(vm_find(&space, BASE + 3 * KIB4)->offset, 3 * KIB4);
    vm_protect(&space, BASE + 2 * KIB4, KIB4, RW);
    assert_int_equal(fake_file.mappings, 1);
    map_file(BASE + 8 * KIB4, KIB4, RW, 0, 0); /* adjacent, but of another part */
    assert_int_equal(count_areas(), 2);
    vm_unmap(&space, BASE, 9 * KIB4);
    assert_int_equal(fake_file.references, 1);
}

static void test_changes_of_the_file_are_seen(void **state)
{
    (void)state;
    fake_inode_open(4 * KIB4);
    map_file(BASE, 4 * KIB4, RW, 0, 0);
    peek(BASE);
    poke(BASE, 50); /* a copy */
    assert_int_equal(vm_fault(&space, BASE + KIB4, READ_FAULT), 0);
    fake_pages[1] = 0; /* replaced */
    vm_inode_changed(&fake_file, 0, 2);
    assert_false(leaf(BASE + KIB4) & VM_ENTRY_PRESENT);
    assert_int_equal(peek(BASE), 50);
    poke(BASE + 3 * KIB4, 60);
    fake_file.bytes = 2 * KIB4; /* truncated: copies behind the end go too */
    vm_inode_changed(&fake_file, 2, UINT64_MAX);
    assert_int_equal(vm_fault(&space, BASE + 3 * KIB4, READ_FAULT), -ENXIO);
    assert_int_equal(peek(BASE), 50);
}

#define NEAR_END (BASE + 48 * KIB4) /* 16 pages before the next 64 */

/* In a program that execve started: what is in memory already, within the area. */
static void test_neighbours_are_shown(void **state)
{
    uint64_t faults;

    (void)state;
    fake_inode_open(40 * KIB4);
    for (unsigned i = 0; i < 40; i++) {
        uint64_t page;

        if (i != 20)
            assert_int_equal(inode_page(&fake_file, i, false, &page), 0);
    }
    map_file(NEAR_END, 30 * KIB4, RW, 0, 2 * KIB4); /* pages 2 to 31 */
    poke(NEAR_END + 16 * KIB4, 99);
    assert_int_equal(vm_fault(&space, NEAR_END, READ_FAULT), 0);
    assert_int_equal(space.resident_bytes, 2 * KIB4);
    space.around = true;
    faults = space.faults;
    assert_int_equal(vm_fault(&space, NEAR_END + 27 * KIB4, READ_FAULT), 0);
    assert_int_equal(space.faults, faults + 1);
    assert_int_equal(space.resident_bytes, 14 * KIB4); /* not the copy, not page 20 */
    assert_false(leaf(NEAR_END + 15 * KIB4) & VM_ENTRY_PRESENT);
    assert_false(leaf(NEAR_END + 18 * KIB4) & VM_ENTRY_PRESENT); /* page 20 */
    assert_false(leaf(NEAR_END + 30 * KIB4) & VM_ENTRY_PRESENT);
    assert_int_equal(page_at(NEAR_END + 17 * KIB4), fake_pages[19]);
    assert_false(leaf(NEAR_END + 17 * KIB4) & VM_ENTRY_WRITE);
    assert_int_equal(peek(NEAR_END + 16 * KIB4), 99);
    poke(NEAR_END + 17 * KIB4, 98);
    assert_int_equal(*(uint8_t *)phys_pointer(fake_pages[19]), 20);
    assert_int_equal(vm_unmap(&space, NEAR_END, 30 * KIB4), 0);
    assert_int_equal(space.resident_bytes, 0);
}

static void test_remap_of_a_file(void **state)
{
    int64_t to;

    (void)state;
    fake_inode_open(8 * KIB4);
    map_file(BASE, 2 * KIB4, RW, VM_AREA_SHARED, KIB4);
    poke(BASE + KIB4 + 1, 7);
    to = vm_remap(&space, BASE + KIB4, KIB4, 4 * KIB4, MREMAP_MAYMOVE | MREMAP_FIXED,
                  BASE + 64 * KIB4);
    assert_int_equal(to, BASE + 64 * KIB4);
    assert_int_equal(peek((uint64_t)to + 1), 7);
    assert_int_equal(peek((uint64_t)to + 3 * KIB4), 6); /* page 5 */
    to = vm_remap(&space, BASE, 0, KIB4, MREMAP_MAYMOVE, 0);
    assert_true(to > 0);
    poke((uint64_t)to, 33);
    assert_int_equal(peek(BASE), 33);
}

static void test_stack_grows_to_its_limit(void **state)
{
    (void)state;
    space.stack_limit = 64 * KIB4;
    vm_map(&space, BASE + 1024 * KIB4, KIB4, RW, VM_AREA_GROWS, true, true);
    poke(BASE + 1000 * KIB4, 1);
    assert_int_equal(vm_find(&space, BASE + 1000 * KIB4)->start, BASE + 1000 * KIB4);
    assert_int_equal(vm_fault(&space, BASE + 960 * KIB4, WRITE_FAULT), -EFAULT);
    assert_int_equal(vm_fault(&space, BASE + 961 * KIB4, WRITE_FAULT), 0);
    space.stack_limit = VM_UNLIMITED;
    map_at(BASE + 600 * KIB4, KIB4, RW);
    assert_int_equal(vm_fault(&space, BASE + 856 * KIB4, WRITE_FAULT), -EFAULT);
    assert_int_equal(vm_fault(&space, BASE + 857 * KIB4, WRITE_FAULT), 0);
    count_areas();
}

static void test_reservations_are_larger_than_memory(void **state)
{
    uint64_t huge = 64ull << 30;
    int64_t at = vm_map(&space, 0, huge, RW, VM_AREA_RESERVE, false, false);

    (void)state;
    assert_true(at > 0);
    poke((uint64_t)at + huge / 2, 1);
    assert_int_equal(vm_map(&space, 0, huge, RW, 0, false, false), -ENOMEM);
    at = vm_map(&space, 0, huge, 0, 0, false, false);
    assert_true(at > 0);
    assert_int_equal(vm_protect(&space, (uint64_t)at, huge, RW), -ENOMEM);
    assert_int_equal(vm_protect(&space, (uint64_t)at, MIB2, RW), 0);
    poke((uint64_t)at, 1);
    space.address_limit = space.mapped_bytes + KIB4;
    assert_int_equal(vm_map(&space, 0, 2 * KIB4, RW, 0, false, false), -ENOMEM);
}

static void test_prefault_fills(void **state)
{
    (void)state;
    fake_inode_open(2 * KIB4);
    space.prefault = true;
    map_at(BASE, 3 * KIB4, RW);
    assert_int_equal(space.resident_bytes, 3 * KIB4);
    map_file(BASE + 16 * KIB4, 3 * KIB4, RW, 0, 0);
    assert_int_equal(space.resident_bytes, 5 * KIB4);
    assert_true(leaf(BASE + 16 * KIB4) & VM_ENTRY_WRITE);
    poke(BASE, 9);
    assert_int_equal(vm_advise(&space, BASE, KIB4, MADV_DONTNEED), 0);
    assert_true(leaf(BASE) & VM_ENTRY_PRESENT);
    assert_int_equal(peek(BASE), 0);
    map_at(BASE + 64 * KIB4, KIB4, 0);
    assert_int_equal(vm_protect(&space, BASE + 64 * KIB4, KIB4, RW), 0);
    assert_true(leaf(BASE + 64 * KIB4) & VM_ENTRY_PRESENT);
    space.prefault = false;
}

static void test_advice_needs_a_mapping(void **state)
{
    uint8_t in_memory[3];

    (void)state;
    map_at(BASE, 2 * KIB4, RW);
    poke(BASE, 1);
    vm_resident(&space, BASE, in_memory, 2);
    assert_int_equal(in_memory[0], 1);
    assert_int_equal(in_memory[1], 0);
    assert_int_equal(vm_advise(&space, BASE, KIB4, MADV_WILLNEED), 0);
    assert_int_equal(vm_advise(&space, BASE + KIB4, 2 * KIB4, MADV_WILLNEED), -ENOMEM);
    assert_int_equal(vm_advise(&space, BASE + 1, KIB4, MADV_WILLNEED), -EINVAL);
    assert_int_equal(vm_advise(&space, BASE, KIB4, 77), -EINVAL);
    assert_int_equal(vm_advise(&space, BASE, UINT64_MAX, MADV_DONTNEED), -EINVAL);
    assert_int_equal(vm_lock(&space, BASE, 2 * KIB4, true, true), 0);
    assert_true(leaf(BASE + KIB4) & VM_ENTRY_PRESENT);
    assert_int_equal(vm_advise(&space, BASE, KIB4, MADV_DONTNEED), -EINVAL);
    assert_int_equal(vm_lock(&space, BASE, 3 * KIB4, true, true), -ENOMEM);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_space, close_space)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_private_pages_are_copied_when_written),
        TEST(test_protection_does_not_open_the_file),
        TEST(test_shared_pages_are_the_files),
        TEST(test_areas_hold_their_file),
        TEST(test_changes_of_the_file_are_seen),
        TEST(test_neighbours_are_shown),
        TEST(test_remap_of_a_file),
        TEST(test_stack_grows_to_its_limit),
        TEST(test_reservations_are_larger_than_memory),
        TEST(test_prefault_fills),
        TEST(test_advice_needs_a_mapping),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
