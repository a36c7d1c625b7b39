/* What files contain: random operations on an inode and on plain memory give the same. */
#include "tests/unit/guest/fake_phys.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "guest/memory/heap.c"
#include "guest/vm/inode.c"
#include "guest/vm/inode_contents.c"
#include "guest/vm/inode_pages.c"
#include "guest/vm/inode_served.c"
#include "tests/unit/test.h"

#define PAGES 4096u
#define MODEL_BYTES (64u * PAGE_BYTES)
#define FAULT 0x1000ull /* a user address that is none */

static uint64_t forgotten_first, forgotten_end;
static unsigned forgotten;
static struct inode *faults_on; /* reading user memory brings in a page of this inode */

uint64_t inode_now(void)
{
    static uint64_t now;

    return ++now;
}

void vm_inode_changed(struct inode *inode, uint64_t first_page, uint64_t end_page)
{
    (void)inode;
    forgotten++;
    forgotten_first = first_page;
    forgotten_end = end_page;
}

int copy_from_user(void *to, uint64_t from, size_t bytes)
{
    uint64_t physical;

    if (from == FAULT)
        return -EFAULT;
    if (faults_on)
        assert_int_equal(inode_page(faults_on, 0, true, &physical), 0);
    memcpy(to, (const void *)from, bytes);
    return 0;
}

int copy_to_user(uint64_t to, const void *from, size_t bytes)
{
    if (to == FAULT)
        return -EFAULT;
    memcpy((void *)to, from, bytes);
    return 0;
}

int uaccess_zero(uint64_t to, size_t bytes)
{
    memset((void *)to, 0, bytes);
    return 0;
}

static uint64_t free_at_start;

static int set_up(void **state)
{
    (void)state;
    fake_phys_open(PAGES);
    memset(pages, 0, sizeof pages);
    free_at_start = phys_free_bytes();
    forgotten = 0;
    faults_on = NULL;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fake_phys_close();
    return 0;
}

struct model {
    uint8_t *bytes;
    uint64_t size;
};

static void expect_same(struct inode *inode, const struct model *m)
{
    static uint8_t got[MODEL_BYTES];

    assert_int_equal(inode->bytes, m->size);
    memset(got, 0x77, sizeof got);
    assert_int_equal(inode_read(inode, 0, got, sizeof got), m->size);
    assert_memory_equal(got, m->bytes, m->size);
}

/* Pages as an area would show them; zeros behind the end unless an area wrote there. */
static void expect_pages(struct inode *inode, const struct model *m)
{
    uint64_t physical;

    for (uint64_t index = 0; index * PAGE_BYTES < m->size; index++) {
        uint64_t have = m->size - index * PAGE_BYTES;

        assert_int_equal(inode_page(inode, index, false, &physical), 0);
        assert_memory_equal(phys_pointer(physical), m->bytes + index * PAGE_BYTES,
                            have < PAGE_BYTES ? have : PAGE_BYTES);
    }
    assert_int_equal(inode_page(inode, (m->size + PAGE_BYTES - 1) / PAGE_BYTES, false, &physical),
                     -ENXIO);
}

static void model_resize(struct model *m, uint64_t size)
{
    if (size > m->size)
        memset(m->bytes + m->size, 0, size - m->size);
    m->size = size;
}

static void random_write(struct inode *inode, struct model *m, struct test_random *r)
{
    static uint8_t text[3 * PAGE_BYTES];
    uint64_t offset = test_random_below(r, MODEL_BYTES - sizeof text);
    uint64_t bytes = 1 + test_random_below(r, sizeof text);

    if (test_random_below(r, 3) == 0)
        offset &= ~(PAGE_BYTES - 1ull);
    test_random_fill(r, text, bytes);
    if (offset + bytes > m->size)
        model_resize(m, offset + bytes);
    memcpy(m->bytes + offset, text, bytes);
    if (test_random_below(r, 2))
        assert_int_equal(inode_write(inode, offset, text, bytes), bytes);
    else
        assert_int_equal(inode_write_user(inode, offset, (uint64_t)text, bytes), bytes);
}

static void random_step(struct inode *inode, struct model *m, struct test_random *r)
{
    uint64_t a = test_random_below(r, MODEL_BYTES), b = test_random_below(r, MODEL_BYTES);
    uint64_t physical;

    switch (test_random_below(r, 6)) {
    case 0:
        assert_int_equal(inode_truncate(inode, a), 0);
        model_resize(m, a);
        break;
    case 1:
        assert_int_equal(inode_punch(inode, a, b), 0);
        if (a < m->size)
            memset(m->bytes + a, 0, b < m->size - a ? b : m->size - a);
        break;
    case 2: /* an area writes a whole page, also behind the end */
        if (inode_page(inode, a / PAGE_BYTES, true, &physical) == 0) {
            uint64_t start = a & ~(PAGE_BYTES - 1ull), have = m->size - start;

            memset(phys_pointer(physical), (int)b, PAGE_BYTES);
            memset(m->bytes + start, (int)b, have < PAGE_BYTES ? have : PAGE_BYTES);
        }
        break;
    default:
        random_write(inode, m, r);
    }
}

/* The host's side of a served file. */
static const uint8_t *host_file;
static uint64_t host_bytes;
static unsigned fetches;

static int fetch(struct inode *inode, uint64_t index)
{
    uint64_t first = index & ~15ull, left = host_bytes - first * PAGE_BYTES;

    fetches++;
    return inode_add_block(inode, first, host_file + first * PAGE_BYTES,
                           left < 16 * PAGE_BYTES ? left : 16 * PAGE_BYTES, index);
}

static void run_random(uint64_t seed, uint64_t base_bytes, uint64_t misaligned, bool served)
{
    struct test_random r = {seed};
    struct model m = {.bytes = malloc(MODEL_BYTES)};
    uint8_t *archive = aligned_alloc(PAGE_BYTES, MODEL_BYTES + PAGE_BYTES);
    struct inode *inode = inode_new(S_IFREG | 0644);

    test_random_fill(&r, archive + misaligned, MODEL_BYTES);
    memcpy(m.bytes, archive + misaligned, base_bytes);
    m.size = base_bytes;
    inode->base = served ? NULL : archive + misaligned;
    inode->base_bytes = inode->bytes = base_bytes;
    inode_fetch = fetch;
    host_file = archive + misaligned;
    host_bytes = base_bytes;
    if (base_bytes)
        assert_ptr_equal(inode_contents(inode), inode->base);
    for (int i = 0; i < 300; i++) {
        random_step(inode, &m, &r);
        expect_same(inode, &m);
        if (i % 16 == 0)
            expect_pages(inode, &m);
    }
    inode_release(inode);
    free(archive);
    free(m.bytes);
}

static void test_random_operations(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        run_random(seed, 0, 0, false);
        run_random(seed, 10 * PAGE_BYTES + 100, 0, false);
        run_random(seed, 10 * PAGE_BYTES + 100, 4, false);
        run_random(seed, 40 * PAGE_BYTES + 100, 4, true);
    }
    assert_true(fetches >= 20);
    /* but for the page of zeros and one of inodes */
    assert_true(free_at_start - phys_free_bytes() <= 2 * PAGE_BYTES);
}

/* Pages of served files are freed and fetched again, unless something may still use them. */
static void test_room(void **state)
{
    struct inode *inodes[4];
    static uint8_t host[4 * PAGE_BYTES], got[sizeof host];
    uint64_t free_before;

    (void)state;
    host_file = host;
    host_bytes = sizeof host;
    inode_fetch = fetch;
    for (unsigned i = 0; i < sizeof host; i++)
        host[i] = (uint8_t)(i * 7 + i / 256);
    for (int i = 0; i < 4; i++) {
        inodes[i] = inode_new(S_IFREG | 0644);
        inodes[i]->served = (uint64_t)i + 2;
        inodes[i]->bytes = inodes[i]->base_bytes = sizeof host;
        assert_int_equal(inode_read(inodes[i], 100, got, 1), 1);
        assert_int_equal(inodes[i]->page_count, 4); /* the whole block */
    }
    free_before = phys_free_bytes();
    inodes[0]->readers = inodes[1]->readers = inodes[2]->readers = 1;
    inodes[3]->readers = 2; /* one that waits for a page, and one that copies from another */
    inode_make_room(inodes[3], UINT64_MAX);
    assert_int_equal(inodes[3]->page_count, 4);
    inodes[3]->readers = 1;
    inode_make_room(inodes[3], UINT64_MAX);
    assert_int_equal(phys_free_bytes(), free_before + 5 * PAGE_BYTES);
    inodes[0]->readers = inodes[2]->readers = inodes[3]->readers = 0;
    assert_int_equal(inode_read(inodes[3], 100, got, 1), 1);
    inodes[0]->mappings = 1;
    inodes[1]->readers = 1;
    assert_int_equal(inode_write(inodes[2], 0, "x", 1), 1);
    free_before = phys_free_bytes();
    inode_make_room(NULL, free_before); /* enough is free */
    assert_int_equal(phys_free_bytes(), free_before);
    inode_make_room(NULL, UINT64_MAX);
    assert_int_equal(phys_free_bytes(), free_before + 5 * PAGE_BYTES); /* and a node */
    assert_int_equal(inodes[3]->page_count, 0);
    fetches = 0;
    assert_int_equal(inode_read(inodes[3], 0, got, sizeof got), sizeof got);
    assert_memory_equal(got, host, sizeof host);
    assert_int_equal(fetches, 1);
    assert_int_equal(inode_read(inodes[2], 0, got, sizeof got), sizeof got);
    assert_int_equal(got[0], 'x');
    assert_memory_equal(got + 1, host + 1, sizeof host - 1);
    assert_int_equal(fetches, 1);
    /* the host's file became shorter */
    host_bytes = PAGE_BYTES + 10;
    inode_make_room(NULL, UINT64_MAX);
    assert_int_equal(inode_read(inodes[3], 0, got, sizeof got), PAGE_BYTES);
    assert_int_equal(inode_read(inodes[3], PAGE_BYTES, got, sizeof got), -EIO);
    for (int i = 0; i < 4; i++)
        inode_release(inodes[i]);
}

static void test_sparse(void **state)
{
    struct inode *inode = inode_new(S_IFREG | 0644);
    const uint64_t far = INT64_MAX - 3;
    char text[5] = "....";

    (void)state;
    assert_int_equal(inode_truncate(inode, 1ull << 40), 0);
    assert_int_equal(inode_blocks(inode), 0);
    assert_int_equal(inode_write(inode, far, "abcd", 4), 3); /* as much as there can be */
    assert_int_equal(inode->bytes, INT64_MAX);
    assert_int_equal(inode_write(inode, INT64_MAX, "x", 1), -EFBIG);
    assert_int_equal(inode_truncate(inode, 1ull << 63), -EFBIG);
    assert_int_equal(inode_read(inode, far, text, 4), 3);
    assert_string_equal(text, "abc.");
    assert_int_equal(inode_seek(inode, 0, true), far & ~(PAGE_BYTES - 1ull));
    assert_int_equal(inode_seek(inode, 12345, false), 12345);
    assert_int_equal(inode_seek(inode, far, true), far);
    assert_int_equal(inode_seek(inode, far, false), INT64_MAX);
    assert_int_equal(inode_write(inode, 5 * PAGE_BYTES, "x", 1), 1);
    assert_int_equal(inode_seek(inode, 1, true), 5 * PAGE_BYTES);
    assert_int_equal(inode_seek(inode, 5 * PAGE_BYTES, false), 6 * PAGE_BYTES);
    assert_int_equal(inode_truncate(inode, 6 * PAGE_BYTES), 0);
    assert_int_equal(inode_seek(inode, 5 * PAGE_BYTES + 1, true), 5 * PAGE_BYTES + 1);
    assert_int_equal(inode_seek(inode, 6 * PAGE_BYTES, true), UINT64_MAX);
    assert_int_equal(inode_blocks(inode), 8);
    inode_release(inode);
}

static void test_areas_forget(void **state)
{
    struct inode *inode = inode_new(S_IFREG | 0644);
    uint64_t before, after;

    (void)state;
    inode->mappings = 1;
    assert_int_equal(inode_truncate(inode, 10 * PAGE_BYTES), 0);
    assert_int_equal(inode_page(inode, 3, false, &before), 0);
    assert_int_equal(inode_write(inode, 3 * PAGE_BYTES + 7, "x", 1), 1);
    assert_int_equal(forgotten, 1);
    assert_int_equal(forgotten_first, 3);
    assert_int_equal(forgotten_end, 4);
    assert_int_equal(inode_page(inode, 3, false, &after), 0);
    assert_int_not_equal(before, after);
    assert_int_equal(inode_write(inode, 3 * PAGE_BYTES, "y", 1), 1); /* in place */
    assert_int_equal(forgotten, 1);
    assert_int_equal(inode_truncate(inode, 3 * PAGE_BYTES + 1), 0);
    assert_int_equal(forgotten, 2);
    assert_int_equal(forgotten_first, 3);
    assert_true(forgotten_end >= 10);
    inode_release(inode);
}

static void test_faults(void **state)
{
    struct inode *inode = inode_new(S_IFREG | 0644);
    char got[3];

    (void)state;
    assert_int_equal(inode_write_user(inode, 100, FAULT, 5), -EFAULT);
    assert_int_equal(inode->bytes, 0);
    assert_int_equal(inode_write(inode, 0, "abc", 3), 3);
    assert_int_equal(inode_read_user(inode, 0, FAULT, 3), -EFAULT);
    assert_int_equal(inode_write_user(inode, 0, FAULT, 3), -EFAULT);
    /* the page comes into being while its contents are fetched */
    assert_int_equal(inode_truncate(inode, 0), 0);
    assert_int_equal(inode_truncate(inode, 100), 0);
    faults_on = inode;
    assert_int_equal(inode_write_user(inode, 50, (uint64_t) "def", 3), 3);
    faults_on = NULL;
    assert_int_equal(inode_read(inode, 50, got, 3), 3);
    assert_memory_equal(got, "def", 3);
    assert_int_equal(inode->page_count, 1);
    inode_release(inode);
}

static void test_unsent(void **state)
{
    struct inode *inode = inode_new(S_IFREG | 0644);
    uint64_t index = 0, physical;

    (void)state;
    assert_int_equal(inode_truncate(inode, 1 << 30), 0);
    assert_int_equal(inode_write(inode, 0, "a", 1), 1);
    assert_int_equal(inode_write(inode, 1000 * PAGE_BYTES, "b", 1), 1);
    assert_int_equal(inode_page(inode, 500, true, &physical), 0);
    assert_int_equal(inode->unsent_pages, 3);
    for (uint64_t wanted = 0; wanted <= 1000; wanted += 500, index++) {
        assert_non_null(inode_next_unsent(inode, &index, false));
        assert_int_equal(index, wanted);
    }
    assert_null(inode_next_unsent(inode, &index, false));
    assert_int_equal(inode->unsent_pages, 0);
    index = 0;
    assert_null(inode_next_unsent(inode, &index, false));
    index = 0;
    assert_ptr_equal(inode_next_unsent(inode, &index, true), phys_pointer(physical));
    inode_release(inode);
}

static void test_no_memory(void **state)
{
    struct inode *inode = inode_new(S_IFREG | 0644);
    static uint8_t text[64 * PAGE_BYTES];
    uint64_t offset = 0;
    int64_t written;

    (void)state;
    while ((written = inode_write(inode, offset, text, sizeof text)) > 0)
        offset += (uint64_t)written;
    assert_int_equal(written, -ENOMEM);
    assert_int_equal(inode->bytes, offset);
    assert_true(phys_free_bytes() >= phys_total_bytes() / RESERVE_SHARE - PAGE_BYTES);
    inode_release(inode);
    assert_true(free_at_start - phys_free_bytes() <= 2 * PAGE_BYTES);
}

static void test_heap(void **state)
{
    static const size_t some[] = {1, 16, 17, 100, 2032, 2033, 4096, 70000};
    void *objects[8][50];

    (void)state;
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 50; k++) {
            uint8_t *object = objects[i][k] = heap_alloc(some[i]);

            assert_non_null(object);
            assert_int_equal((uint64_t)object % 16, 0);
            for (size_t n = 0; n < some[i]; n++)
                assert_int_equal(object[n], 0);
            memset(object, 0xff, some[i]);
        }
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 50; k++)
            heap_free(objects[i][k], some[i]);
    assert_null(heap_alloc(5u << 20));
    assert_true(free_at_start - phys_free_bytes() <= SIZES * PAGE_BYTES);
}

static uint64_t present(struct inode *inode, uint64_t index)
{
    uint64_t found[3];

    inode_present(inode, index, found, 3);
    assert_int_equal(found[1], 0);
    return found[0];
}

static void test_pages_are_given_and_taken(void **state)
{
    struct inode *inode = inode_new(S_IFREG);
    uint64_t own[2] = {phys_alloc(0), phys_alloc(0)}, physical;

    (void)state;
    inode->bytes = 600 * PAGE_BYTES;
    assert_int_equal(inode_give(inode, 0, own[0]), 0);
    assert_int_equal(inode_give(inode, 599, own[1]), 0);
    assert_int_equal(inode_page(inode, 599, true, &physical), 0);
    assert_int_equal(physical, own[1]);
    assert_int_equal(present(inode, 0), own[0]);
    assert_int_equal(present(inode, 1), 0); /* a hole */
    assert_int_equal(present(inode, 599), own[1]);
    inode_take_all(inode);
    assert_int_equal(inode->page_count, 0);
    assert_int_equal(present(inode, 599), 0);
    inode_release(inode);
    phys_free(own[0], 0); /* still ours */
    phys_free(own[1], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_random_operations, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_room, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sparse, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_areas_forget, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_faults, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unsent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_heap, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_pages_are_given_and_taken, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
