/* What the tests of forks share: looks into a space as its program has them. */
#ifndef TESTS_UNIT_GUEST_VM_FORK_FIXTURE_H
#define TESTS_UNIT_GUEST_VM_FORK_FIXTURE_H

#include "tests/unit/guest/vm_fixture.h"

#define READ_FAULT VM_FAULT_USER
#define WRITE_FAULT (VM_FAULT_USER | VM_FAULT_WRITE)

static inline struct vm_space *forked_from(struct vm_space *parent)
{
    struct vm_space *child = NULL;

    assert_int_equal(vm_space_fork(parent, &child), 0);
    assert_non_null(child);
    return child;
}

static inline uint8_t peek_in(struct vm_space *in, uint64_t address)
{
    uint64_t room;
    void *p;

    assert_int_equal(vm_access(in, address, VM_ACCESS_READ, &p, &room), 0);
    return *(uint8_t *)p;
}

static inline void poke_in(struct vm_space *in, uint64_t address, uint8_t value)
{
    uint64_t room;
    void *p;

    assert_int_equal(vm_access(in, address, VM_ACCESS_WRITE, &p, &room), 0);
    *(uint8_t *)p = value;
}

/* As the CPU sees it: whether a write needs a fault. */
static inline bool writable_in(const struct vm_space *in, uint64_t address)
{
    uint64_t table = in->root;

    for (unsigned level = VM_LEVEL_TOP;; level--) {
        uint64_t entry = *vm_table_entry(table, address, level);

        if (!(entry & VM_ENTRY_PRESENT) || !(entry & VM_ENTRY_WRITE))
            return false;
        if (level == VM_LEVEL_PAGE || entry & VM_ENTRY_LARGE)
            return true;
        table = entry;
    }
}

/* A write by the program: a fault if there must be one, then the store. */
static inline void store_in(struct vm_space *in, uint64_t address, uint8_t value)
{
    struct vm_slot slot;

    if (!writable_in(in, address))
        assert_int_equal(vm_fault(in, address, WRITE_FAULT), 0);
    assert_true(writable_in(in, address));
    slot = vm_table_look(in->root, address, VM_LEVEL_PAGE);
    *((uint8_t *)phys_pointer(*slot.entry & VM_ENTRY_ADDRESS) +
      address % vm_level_bytes(slot.level)) = value;
}

static inline void assert_no_counts(void)
{
    uint64_t count = arena.page_count;

    for (uint64_t i = 0; vm_share_blocks && i < count; i++)
        assert_int_equal(*vm_share_count(vm_share_first + i * PAGE_BYTES), 0);
}

/* Memory that the counts, the heap and the pool of areas keep is taken before the first look. */
static inline uint64_t free_after_warming_up(void)
{
    struct vm_space *child = forked_from(&space);

    vm_space_release(child);
    return phys_free_bytes();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_space, close_space)

#endif
