/* Addresses of data get the names of what lies there. */
#include "host/memory/accesses/memory_names.h"

#include "tests/unit/host/program.h"

#define BUILD                                                                           \
    "echo 'struct hits { long hits, misses; }; hits stats[8] = {{1}}; long zero[512]; " \
    "char *end = (char *)&zero[stats[0].hits];' >>program.cc && c++ -O1 -g -o $p program.cc "

static struct program p;
static struct symbols *symbols;
static struct memory_names names;
static struct memory_cursor cursor;

static void open_names(const char *options)
{
    char command[600];

    snprintf(command, sizeof command, "%s %s", BUILD, options);
    program_build(&p, command);
    assert_int_equal(symbols_open(&symbols, &p.info, NULL), 0);
    assert_int_equal(memory_names_open(&names, &p.info, symbols), 0);
    memory_names_begin(&names, &cursor);
    memory_names_at(&cursor, 1000, 5);
}

static void close_names(void)
{
    memory_names_close(&names);
    symbols_close(symbols);
    program_free(&p);
}

static void expect(uint64_t address, enum memory_kind kind, const char *name, const char *part)
{
    struct memory_thing thing = memory_names_find(&cursor, address, 5);
    char text[MEMORY_NAME_BYTES];

    assert_int_equal(memory_names_kind(thing.key), kind);
    assert_string_equal(memory_names_text(&names, thing.key, text), name);
    assert_string_equal(memory_names_part(&names, thing.key, address - thing.start, text), part);
}

static void variables_have_names_wherever_the_file_is(void **state)
{
    uint64_t end;

    (void)state;
    for (int pie = 0; pie < 2; pie++) {
        uint64_t base = pie ? PROGRAM_BASE : 0;

        open_names(pie ? "-pie -fPIE" : "-no-pie");
        expect(base + program_symbol(&p, "stats"), MEMORY_VARIABLE, "stats", "stats[0].hits");
        expect(base + program_symbol(&p, "stats") + 3 * 16 + 8, MEMORY_VARIABLE, "stats",
               "stats[3].misses");
        expect(base + program_symbol(&p, "zero") + 8 * 511, MEMORY_VARIABLE, "zero", "zero[511]");
        end = (base + program_symbol(&p, "_end") + 4095) & ~4095ull;
        expect(end + 8192, MEMORY_BREAK, "[heap]", "[heap]+0x2000");
        close_names();
    }
}

static void other_memory_is_told_by_its_address(void **state)
{
    (void)state;
    open_names("-no-pie");
    expect(0x7fffffffe000, MEMORY_STACK, "[stack of thread 1000]",
           "[stack of thread 1000]+0x7ff000");
    expect(0x7ffff0012345, MEMORY_OTHER, "[anon] 0x7ffff0010000", "[anon] 0x7ffff0012345");
    expect(UINT64_MAX, MEMORY_KERNEL, "[kernel]", "[kernel]+0xffffffffffffffff");
    close_names();
}

static uint64_t key_in(uint32_t process, uint64_t address)
{
    cursor.process = process;
    return memory_names_find(&cursor, address, 5).key;
}

static void other_memory_is_one_object_where_it_is_near(void **state)
{
    uint64_t key;

    (void)state;
    open_names("-no-pie");
    key = key_in(0, 0x7fff00000000);
    assert_true(memory_names_join(key, key));
    assert_true(memory_names_join(key, key_in(0, 0x7fff00100000)));
    assert_false(memory_names_join(key, key_in(0, 0x7fff00110000)));
    assert_false(memory_names_join(key_in(0, 0x7fffff7e0000), key_in(1, 0x10000)));
    assert_false(memory_names_join(memory_names_site(1), memory_names_site(2)));
    close_names();
}

static uint32_t add_site(struct memory_heap *heap, uint64_t caller)
{
    return memory_sites_number(&heap->sites, &(struct memory_site){.caller = caller});
}

static void objects_of_the_heap_are_told_by_what_allocated_them(void **state)
{
    struct memory_heap heap;
    struct memory_object object = {.address = 0x7ffff0000000, .bytes = 100, .time = 4};
    struct stacks stacks = {0};
    struct memory_thing thing;
    char text[MEMORY_NAME_BYTES];

    (void)state;
    open_names("-no-pie");
    memory_heap_init(&heap, NULL);
    object.site = add_site(&heap, p.probe + 1);
    assert_int_equal(memory_objects_add(&heap.objects, HR_FIRST_PID, &object, NULL, NULL), 0);
    assert_int_equal(stacks_init(&stacks), 0);
    memory_names_heap(&names, &heap, &stacks);
    thing = memory_names_find(&cursor, 0x7ffff0000063, 5);
    assert_int_equal(memory_names_kind(thing.key), MEMORY_SITE);
    assert_true(thing.start == object.address && thing.birth == 4);
    memory_names_text(&names, thing.key, text);
    assert_memory_equal(text, "heap: ", 6);
    expect(0x7ffff0000064, MEMORY_OTHER, "[anon] 0x7ffff0000000", "[anon] 0x7ffff0000064");
    /* before it was allocated */
    assert_int_equal(memory_names_kind(memory_names_find(&cursor, 0x7ffff0000063, 3).key),
                     MEMORY_OTHER);
    memory_heap_free(&heap);
    stacks_free(&stacks);
    close_names();
}

static void a_stack_is_of_the_thread_that_began_there_last(void **state)
{
    struct hr_meta_thread_stack all[] = {
        {.time = 3, .start = 0x7fffe0001000, .end = 0x7fffe0100000, .tid = 1001},
        {.time = 5, .start = 0x7fffe0001000, .end = 0x7fffe0100000, .tid = 1002},
        {.time = 6, .start = 0x7fffe0001000, .end = 0x7fffe0100000, .tid = 1003},
    };

    (void)state;
    open_names("-no-pie");
    memory_names_close(&names);
    p.info.thread_stacks = (struct trace_thread_stacks){all, 3};
    assert_int_equal(memory_names_open(&names, &p.info, symbols), 0);
    memory_names_begin(&names, &cursor);
    memory_names_at(&cursor, 1000, 5);
    expect(0x7fffe0001000, MEMORY_STACK, "[stack of thread 1002]", "[stack of thread 1002]+0x0");
    expect(0x7fffe00fffff, MEMORY_STACK, "[stack of thread 1002]",
           "[stack of thread 1002]+0xfefff");
    expect(0x7fffe0100000, MEMORY_OTHER, "[anon] 0x7fffe0100000", "[anon] 0x7fffe0100000");
    assert_int_equal(memory_names_kind(memory_names_find(&cursor, 0x7fffe0001000, 2).key),
                     MEMORY_OTHER);
    close_names();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_have_names_wherever_the_file_is),
        cmocka_unit_test(other_memory_is_told_by_its_address),
        cmocka_unit_test(other_memory_is_one_object_where_it_is_near),
        cmocka_unit_test(a_stack_is_of_the_thread_that_began_there_last),
        cmocka_unit_test(objects_of_the_heap_are_told_by_what_allocated_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
