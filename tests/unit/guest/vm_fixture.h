/* An address space on real page tables in a test's memory.  Include once: it brings the code. */
#ifndef TESTS_UNIT_GUEST_VM_FIXTURE_H
#define TESTS_UNIT_GUEST_VM_FIXTURE_H

#include "tests/unit/guest/fake_phys.h"

#include "guest/memory/heap.c"
#include "guest/memory/vm_table.c"
#include "guest/vm/vm.c"
#include "guest/vm/vm_advise.c"
#include "guest/vm/vm_area.c"
#include "guest/vm/vm_area_tree.c"
#include "guest/vm/vm_copy.c"
#include "guest/vm/vm_fault.c"
#include "guest/vm/vm_file.c"
#include "guest/vm/vm_fill.c"
#include "guest/vm/vm_pages.c"
#include "guest/vm/vm_remap.c"
#include "guest/vm/vm_share.c"
#include "guest/vm/vm_space.c"
#include "tests/unit/guest/fake_inode.h"
#include "tests/unit/test.h"

#define PAGES 8192u /* 32 MiB */
#define BASE 0x40000000ull
#define KIB4 ((uint64_t)PAGE_BYTES)
#define MIB2 ((uint64_t)LARGE_PAGE_BYTES)
#define RW (VM_READ | VM_WRITE)

static struct vm_space space;

void vm_table_forget(uint64_t start, uint64_t end)
{
    assert_true(start < end);
}

static uint64_t
    free_at_flush[4]; /* memory free at each flush: what CPUs could still reach is not */
static unsigned flushes;

void vm_kernel_share(uint64_t *top)
{
    memset(top + 256, 0, 256 * sizeof *top);
}

void vm_space_leave(const struct vm_space *left)
{
    assert_non_null(left);
}

void cross_flush(const struct vm_space *, uint64_t start, uint64_t end)
{
    assert_true(start < end);
    if (flushes < 4)
        free_at_flush[flushes] = phys_free_bytes();
    flushes++;
}

static __attribute__((unused)) int open_space(void **state)
{
    (void)state;
    fake_phys_open(PAGES);
    spare = NULL;
    memset(&space, 0, sizeof space);
    space.root = vm_table_new();
    space.stack_limit = space.address_limit = space.data_limit = VM_UNLIMITED;
    space.references = 1;
    vm_spaces = &space;
    vm_share_blocks = NULL;
    memset(pages, 0, sizeof pages); /* the heap's */
    return 0;
}

static __attribute__((unused)) int close_space(void **state)
{
    (void)state;
    fake_phys_close();
    return 0;
}

static __attribute__((unused)) void map_at(uint64_t address, uint64_t bytes, uint32_t protection)
{
    assert_int_equal(vm_map(&space, address, bytes, protection, 0, true, false), address);
}

/* Order, balance and widest gaps; returns the height. */
static uint32_t check_tree(const struct vm_area *a, uint64_t low, uint64_t high)
{
    uint64_t widest;
    uint32_t left, right;

    if (!a)
        return 0;
    assert_true(a->start >= low && a->end <= high);
    left = check_tree(a->left, low, a->start);
    right = check_tree(a->right, a->end, high);
    assert_true(left <= right + 1 && right <= left + 1);
    assert_int_equal(a->height, 1 + (left > right ? left : right));
    widest = gap_bytes(a);
    if (a->left && a->left->widest > widest)
        widest = a->left->widest;
    if (a->right && a->right->widest > widest)
        widest = a->right->widest;
    assert_int_equal(a->widest, widest);
    return a->height;
}

static __attribute__((unused)) int count_areas(void)
{
    int count = 0;
    uint64_t end = 0, bytes = 0;

    for (const struct vm_area *a = space.areas; a; a = a->next) {
        assert_true(a->start >= end && a->end > a->start);
        assert_ptr_equal(a->previous ? a->previous->next : space.areas, a);
        end = a->end;
        bytes += a->end - a->start;
        count++;
    }
    assert_int_equal(space.mapped_bytes, bytes);
    assert_int_equal(space.area_count, count);
    check_tree(space.tree, 0, USER_END);
    return count;
}

static __attribute__((unused)) uint8_t peek(uint64_t address)
{
    uint64_t room;
    void *p;

    assert_int_equal(vm_access(&space, address, VM_ACCESS_FORCE, &p, &room), 0);
    return *(uint8_t *)p;
}

static __attribute__((unused)) void poke(uint64_t address, uint8_t value)
{
    assert_int_equal(vm_write(&space, address, &value, 1), 0);
}

static __attribute__((unused)) uint64_t leaf(uint64_t address)
{
    return *vm_table_look(space.root, address, VM_LEVEL_PAGE).entry;
}

#endif
