/* Forks of address spaces: what is shared, what is copied, what is counted, what is freed. */
#include "tests/unit/guest/vm_fixture.h"

#define READ_FAULT FAULT_USER
#define WRITE_FAULT (FAULT_USER | FAULT_WRITE)

static struct vm_space *forked_from(struct vm_space *parent)
{
    struct vm_space *child = NULL;

    assert_int_equal(vm_space_fork(parent, &child), 0);
    assert_non_null(child);
    return child;
}

static uint8_t peek_in(struct vm_space *in, uint64_t address)
{
    uint64_t room;
    void *p;

    assert_int_equal(vm_access(in, address, VM_ACCESS_READ, &p, &room), 0);
    return *(uint8_t *)p;
}

static void poke_in(struct vm_space *in, uint64_t address, uint8_t value)
{
    uint64_t room;
    void *p;

    assert_int_equal(vm_access(in, address, VM_ACCESS_WRITE, &p, &room), 0);
    *(uint8_t *)p = value;
}

/* As the CPU sees it: whether a write needs a fault. */
static bool writable_in(const struct vm_space *in, uint64_t address)
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
static void store_in(struct vm_space *in, uint64_t address, uint8_t value)
{
    struct vm_slot slot;

    if (!writable_in(in, address))
        assert_int_equal(vm_fault(in, address, WRITE_FAULT), 0);
    assert_true(writable_in(in, address));
    slot = vm_table_look(in->root, address, VM_LEVEL_PAGE);
    *((uint8_t *)phys_pointer(*slot.entry & VM_ENTRY_ADDRESS) +
      address % vm_level_bytes(slot.level)) = value;
}

static void assert_no_counts(void)
{
    uint64_t count = arena.page_count;

    for (uint64_t i = 0; vm_share_blocks && i < count; i++)
        assert_int_equal(*vm_share_count(vm_share_first + i * PAGE_BYTES), 0);
}

/* Memory that the counts, the heap and the pool of areas keep is taken before the first look. */
static uint64_t free_after_warming_up(void)
{
    struct vm_space *child = forked_from(&space);

    vm_space_release(child);
    return phys_free_bytes();
}

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

/* ---- random operations on several spaces, against plain arrays ---- */

#define SPACES 6u
#define SHADOW 1100u /* pages: three tables, some of them large pages at first */

static struct model {
    struct vm_space *space; /* NULL: none */
    int16_t value[SHADOW]; /* -1: not mapped; otherwise the page's first byte */
} models[SPACES];

static void change(struct model *m, struct test_random *random, uint8_t value)
{
    uint64_t page = test_random_below(random, SHADOW);
    uint64_t count = 1 + test_random_below(random, value % 5 ? 20 : SHADOW - page);
    uint64_t address = BASE + page * KIB4;

    if (count > SHADOW - page)
        count = SHADOW - page;
    switch (test_random_below(random, 7)) {
    case 0:
        assert_int_equal(vm_map(m->space, address, count * KIB4, RW, 0, true, false), address);
        memset(&m->value[page], 0, count * sizeof m->value[0]);
        return;
    case 1:
        assert_int_equal(vm_unmap(m->space, address, count * KIB4), 0);
        memset(&m->value[page], 0xff, count * sizeof m->value[0]);
        return;
    case 2:
        (void)vm_protect(m->space, address, count * KIB4, value & 1 ? RW : VM_READ);
        return;
    case 3:
        (void)vm_advise(m->space, address, count * KIB4, MADV_DONTNEED);
        for (uint64_t i = page; i < page + count; i++)
            m->value[i] = m->value[i] < 0 ? -1 : 0;
        return;
    case 4: /* moves one page onto another */
        if (m->value[page] < 0 || page + 7 >= SHADOW)
            return;
        assert_int_equal(vm_remap(m->space, address, KIB4, KIB4, MREMAP_MAYMOVE | MREMAP_FIXED,
                                  address + 7 * KIB4),
                         address + 7 * KIB4);
        m->value[page + 7] = m->value[page];
        m->value[page] = -1;
        return;
    default:
        if (m->value[page] < 0)
            return;
        if (vm_find(m->space, address)->protection & VM_WRITE)
            store_in(m->space, address, value);
        else
            assert_int_equal(vm_write(m->space, address, &value, 1), 0);
        m->value[page] = value;
        return;
    }
}

static void check_model(const struct model *m)
{
    uint64_t resident = 0;

    for (uint64_t page = 0; page < SHADOW; page++) {
        uint64_t address = BASE + page * KIB4;

        if (m->value[page] < 0) {
            assert_null(vm_find(m->space, address));
            assert_false(*vm_table_look(m->space->root, address, VM_LEVEL_PAGE).entry &
                         VM_ENTRY_PRESENT);
            continue;
        }
        resident += *vm_table_look(m->space->root, address, VM_LEVEL_PAGE).entry & 1 ? KIB4 : 0;
        assert_int_equal(peek_in(m->space, address), m->value[page]);
    }
    assert_true(m->space->resident_bytes >= resident);
}

static void fork_or_end(struct test_random *random)
{
    struct model *from = &models[test_random_below(random, SPACES)];
    struct model *to = &models[1 + test_random_below(random, SPACES - 1)];

    if (!from->space || from == to)
        return;
    if (to->space) {
        vm_space_release(to->space);
        to->space = NULL;
        return;
    }
    to->space = forked_from(from->space);
    memcpy(to->value, from->value, sizeof to->value);
}

static void test_random_operations_on_several_spaces(void **state)
{
    struct test_random random = {.state = 11};
    uint64_t before;

    (void)state;
    memset(models, 0, sizeof models);
    memset(models[0].value, 0xff, sizeof models[0].value);
    models[0].space = &space;
    before = free_after_warming_up();
    for (unsigned round = 0; round < 6000; round++) {
        struct model *m = &models[test_random_below(&random, SPACES)];

        if (m->space)
            change(m, &random, (uint8_t)round);
        if (round % 16 == 0)
            fork_or_end(&random);
        if (round % 256 == 0)
            for (unsigned i = 0; i < SPACES; i++)
                if (models[i].space)
                    check_model(&models[i]);
    }
    for (unsigned i = 1; i < SPACES; i++) {
        if (!models[i].space)
            continue;
        check_model(&models[i]);
        vm_space_release(models[i].space);
    }
    check_model(&models[0]);
    assert_no_counts();
    assert_int_equal(vm_unmap(&space, BASE, SHADOW * KIB4), 0);
    assert_int_equal(space.resident_bytes, 0);
    assert_true(before - phys_free_bytes() < 64 * KIB4); /* the pool of areas grows */
    for (uint64_t i = 0; i < 512; i++)
        if (i < 256)
            assert_int_equal(((uint64_t *)phys_pointer(space.root))[i], 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_space, close_space)

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
        TEST(test_advice_about_forks),
        TEST(test_limits_and_break_are_inherited),
        TEST(test_references),
        TEST(test_fork_needs_counts),
        TEST(test_fork_without_memory_changes_nothing),
        TEST(test_random_operations_on_several_spaces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
