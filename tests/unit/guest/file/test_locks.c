/* Advisory locks, against a table with an entry a byte. */
#include "guest/file/locks.c"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"

#define BYTES 40u
#define FILES 3u
#define OWNERS (FILES + 1) /* the process is the last */

static struct inode inode;
static struct file files[FILES];
static struct process process = {.files = (struct file_table *)&process};
static struct thread caller = {.process = &process};
static uint8_t held[OWNERS][BYTES]; /* enum lock_mode */

void *heap_alloc(size_t bytes)
{
    return calloc(1, bytes);
}

void heap_free(void *object, size_t bytes)
{
    (void)bytes;
    free(object);
}

enum wait_end wait_on(struct thread *thread, uint64_t key, uint64_t ns, const char *what)
{
    (void)thread;
    (void)key;
    (void)ns;
    (void)what;
    return WAIT_SIGNAL;
}

uint32_t wait_wake_key(uint64_t key, uint32_t most)
{
    (void)key;
    (void)most;
    return 0;
}

static bool in_the_way(uint32_t owner, uint32_t byte, enum lock_mode mode)
{
    for (uint32_t other = 0; other < OWNERS; other++)
        if (other != owner && held[other][byte] &&
            (held[other][byte] == LOCK_EXCLUSIVE || mode == LOCK_EXCLUSIVE))
            return true;
    return false;
}

static bool model_set(uint32_t owner, const struct lock_range *range)
{
    if (range->mode != LOCK_NONE)
        for (uint64_t i = range->first; i <= range->last; i++)
            if (in_the_way(owner, (uint32_t)i, range->mode))
                return false;
    memset(held[owner] + range->first, range->mode, range->last - range->first + 1);
    return true;
}

static void compare(void)
{
    for (uint32_t owner = 0; owner < OWNERS; owner++) {
        for (uint32_t byte = 0; byte < BYTES; byte++) {
            struct lock_range found, range = {.kind = owner < FILES ? LOCK_OPEN_FILE : LOCK_PROCESS,
                                              .mode = LOCK_SHARED,
                                              .first = byte,
                                              .last = byte};

            for (; range.mode <= LOCK_EXCLUSIVE; range.mode++) {
                locks_test(&process, &files[owner % FILES], &range, &found);
                assert_int_equal(found.mode != LOCK_NONE, in_the_way(owner, byte, range.mode));
            }
        }
    }
}

static void same_as_a_table(void **state)
{
    struct test_random random = {3};

    (void)state;
    for (uint32_t i = 0; i < FILES; i++)
        files[i].inode = &inode;
    for (int i = 0; i < 5000; i++) {
        uint32_t owner = (uint32_t)test_random_below(&random, OWNERS);
        struct lock_range range = {.kind = owner < FILES ? LOCK_OPEN_FILE : LOCK_PROCESS,
                                   .mode = (enum lock_mode)test_random_below(&random, 3),
                                   .first = test_random_below(&random, BYTES)};

        range.last = range.first + test_random_below(&random, BYTES - range.first);
        assert_int_equal(locks_set(&caller, &files[owner % FILES], &range, false) == 0,
                         model_set(owner, &range));
        if (test_random_below(&random, 50) == 0) {
            if (owner < FILES)
                locks_file_gone(&files[owner]);
            else
                locks_closed(&process, &files[0]);
            memset(held[owner], LOCK_NONE, BYTES);
        }
        compare();
    }
    for (uint32_t i = 0; i < FILES; i++)
        locks_file_gone(&files[i]);
    locks_closed(&process, &files[0]);
    assert_null(locks);
}

static void up_to_the_end(void **state)
{
    struct lock_range all = {.kind = LOCK_OPEN_FILE, .mode = LOCK_SHARED, .last = UINT64_MAX};
    struct lock_range part = {.kind = LOCK_OPEN_FILE, .mode = LOCK_NONE, .first = 5, .last = 9};
    struct lock_range found;

    (void)state;
    assert_int_equal(locks_set(&caller, &files[0], &all, false), 0);
    assert_int_equal(locks_set(&caller, &files[0], &part, false), 0);
    part.mode = LOCK_EXCLUSIVE;
    locks_test(&process, &files[1], &part, &found);
    assert_int_equal(found.mode, LOCK_NONE);
    part.first = part.last = UINT64_MAX;
    locks_test(&process, &files[1], &part, &found);
    assert_int_equal(found.first, 10);
    assert_int_equal(locks_set(&caller, &files[0], &all, false), 0);
    locks_test(&process, &files[1], &part, &found);
    assert_int_equal(found.first, 0);
    all.kind = LOCK_FLOCK; /* sees no ranges */
    all.mode = LOCK_EXCLUSIVE;
    assert_int_equal(locks_set(&caller, &files[1], &all, false), 0);
    assert_int_equal(locks_set(&caller, &files[2], &all, false), -EAGAIN);
    assert_int_equal(locks_set(&caller, &files[2], &all, true), -EINTR);
    locks_file_gone(&files[0]);
    locks_file_gone(&files[1]);
    assert_null(locks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_a_table),
        cmocka_unit_test(up_to_the_end),
    };

    return cmocka_run_group_tests_name("locks", tests, NULL, NULL);
}
