/* Which accesses are to one line; how a walk over them fails. */
#include "host/memory/lines/memory_lines.h"

#include <errno.h>

#include "tests/unit/host/fixture.h"

#define LINE 0x7fff00000040ull

static struct trace_info info;
static struct memory_names names;
static struct memory_heap heap;
static struct memory_cursor cursor;

static void begin(void)
{
    trace_info_init(&info);
    assert_int_equal(memory_names_open(&names, &info, NULL), 0);
    memory_heap_init(&heap, NULL);
    memory_names_heap(&names, &heap, NULL);
    memory_names_begin(&names, &cursor);
    memory_names_at(&cursor, 1000, 5);
}

static void end(void)
{
    memory_names_close(&names);
    memory_heap_free(&heap);
    trace_info_free(&info);
}

static void add(uint64_t address, uint64_t bytes, uint64_t time)
{
    struct memory_object old;

    memory_objects_remove(&heap.objects, HR_FIRST_PID, address, &old);
    assert_int_equal(memory_objects_add(
                         &heap.objects, HR_FIRST_PID,
                         &(struct memory_object){.address = address, .bytes = bytes, .time = time},
                         NULL, NULL),
                     0);
}

static void small_objects_share_a_line(void **state)
{
    uint64_t id;

    (void)state;
    begin();
    id = memory_lines_id(&cursor, LINE, 5);
    add(LINE, 16, 1);
    add(LINE + 32, 16, 2);
    assert_true(memory_lines_id(&cursor, LINE, 5) == id);
    assert_true(memory_lines_id(&cursor, LINE + 32, 5) == id);
    assert_true(memory_lines_id(&cursor, LINE + 48, 5) == id);
    add(LINE + 48, 16, 3);
    assert_true(memory_lines_id(&cursor, LINE + 63, 5) == id);
    assert_true(memory_lines_id(&cursor, LINE + 64, 5) != id);
    end();
}

static void objects_that_hold_a_line_one_after_the_other_are_told_apart(void **state)
{
    uint64_t id;

    (void)state;
    begin();
    add(LINE - 16, 100, 1);
    id = memory_lines_id(&cursor, LINE, 5);
    assert_true(memory_lines_id(&cursor, LINE + 63, 5) == id);
    add(LINE - 16, 100, 2);
    assert_true(memory_lines_id(&cursor, LINE, 5) != id);
    assert_true(memory_lines_address(memory_lines_id(&cursor, LINE + 8, 5)) == LINE);
    end();
}

static void *join(void * /*owner*/)
{
    fail_msg("there are no names, but a worker");
    return NULL;
}

static void restart(void * /*owner*/)
{
}

/* A damaged trace is walked over twice. */
static void a_trace_that_cannot_be_read_again_is_an_error(void **state)
{
    const struct memory_team team = {.join = join, .restart = restart};
    struct memory_accesses accesses;
    struct trace_scan scan;
    struct fixture f;

    (void)state;
    fixture_init(&f);
    fixture_end(&f);
    f.count -= 3;
    assert_int_equal(trace_scan_open(&scan, fixture_file(&f)), 0);
    memory_accesses_init(&accesses, &scan, "/nowhere/trace.bin", 1);
    assert_int_equal(memory_accesses_walk(&accesses, &team), -ENOENT);
    memory_accesses_free(&accesses);
    trace_scan_close(&scan);
    fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_objects_share_a_line),
        cmocka_unit_test(objects_that_hold_a_line_one_after_the_other_are_told_apart),
        cmocka_unit_test(a_trace_that_cannot_be_read_again_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
