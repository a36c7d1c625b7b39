/* Forks of address spaces: random operations on several of them, against plain arrays. */
#include "tests/unit/guest/vm_fork_fixture.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_random_operations_on_several_spaces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
