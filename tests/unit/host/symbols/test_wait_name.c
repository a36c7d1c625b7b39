/* What a thread waits for gets the name of a global object, of its file, or of the system call. */
#include "host/symbols/wait_name.h"

#include <asm/unistd_64.h>

#include "tests/unit/host/program.h"

/* Two locks, one within a struct, as the compiler lays them out. */
#define BUILD                                                                             \
    "echo 'namespace demo { char queue[80]; } extern \"C\" { char cache_lock[40] = {1}; " \
    "char *end = demo::queue; }' >>program.cc && c++ -O1 -g -fno-inline-functions "

static struct program p;

static void expect(uint32_t number, uint64_t address, const char *wanted)
{
    const struct hr_rec_wait wait = {.tid = HR_FIRST_PID, .number = number, .address = address};
    char name[WAIT_NAME_BYTES];
    struct symbols *symbols;

    assert_int_equal(symbols_open(&symbols, &p.info, NULL), 0);
    assert_string_equal(wait_name(symbols, &p.info, &wait, name), wanted);
    symbols_close(symbols);
}

static void expect_names(uint64_t base)
{
    uint64_t cache_lock = base + program_symbol(&p, "cache_lock");
    uint64_t queue = base + program_symbol(&p, "_ZN4demo5queueE");

    expect(__NR_futex, cache_lock, "cache_lock");
    expect(__NR_futex, cache_lock + 39, "cache_lock+0x27");
    expect(__NR_futex, queue + 0x28, "demo::queue+0x28");
    expect(__NR_futex, 0x30010, "0x30010");
}

static void locks_have_names(void **state)
{
    (void)state;
    program_build(&p, BUILD "-no-pie -o $p program.cc");
    expect_names(0);
    program_free(&p);
    program_build(&p, BUILD "-pie -fPIE -o $p program.cc");
    expect_names(PROGRAM_BASE);
    program_free(&p);
}

static void the_heap_follows_the_program(void **state)
{
    char wanted[64];
    uint64_t heap;

    (void)state;
    program_build(&p, BUILD "-no-pie -o $p program.cc");
    heap = program_symbol(&p, "_end") + 0x12340;
    snprintf(wanted, sizeof wanted, "heap 0x%lx", heap);
    expect(__NR_futex, heap, wanted);
    program_free(&p);
}

static void without_symbols_the_file_is_named(void **state)
{
    char wanted[64];
    uint64_t lock;

    (void)state;
    program_build(&p, BUILD "-no-pie -o $p program.cc");
    lock = program_symbol(&p, "cache_lock");
    program_run(&p, "strip $p");
    snprintf(wanted, sizeof wanted, "program+0x%lx", lock + 4);
    expect(__NR_futex, lock + 4, wanted);
    program_free(&p);
}

static void other_waits_are_calls(void **state)
{
    (void)state;
    program_build(&p, BUILD "-o $p program.cc");
    expect(__NR_nanosleep, 0, "nanosleep");
    expect(99999, 0, "system call 99999");
    expect(HR_WAIT_NO_CALL, 0, "[stopped]");
    program_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(locks_have_names),
        cmocka_unit_test(the_heap_follows_the_program),
        cmocka_unit_test(without_symbols_the_file_is_named),
        cmocka_unit_test(other_waits_are_calls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
