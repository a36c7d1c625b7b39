/* The parts of global variables have the names that a program writes. */
#include "host/symbols/symbols_globals.h"

#include "tests/unit/host/program.h"

static const char source[] =
    "struct hits { unsigned long hits, misses; };\n"
    "struct item { struct item *next; int key; union { int whole; char part[4]; }; };\n"
    "struct wide { char c; long value __attribute__((aligned(32))); };\n"
    "typedef const struct hits fixed;\n"
    "namespace demo { struct base { int first; }; struct derived : base { int second; };\n"
    "                 derived object = {{1}, 2}; volatile hits all[4]; }\n"
    "struct hits stats = {1, 2};\n"
    "struct item table[16] = {{0, 1, {2}}};\n"
    "struct wide padded = {1, 2};\n"
    "int grid[3][5] = {{1}};\n"
    "fixed constant = {3, 4};\n"
    "char buffer[64] = {1};\n"
    "int count() { static hits inner = {5, 6}; return (int)++inner.hits; }\n"
    "int main() { __asm__ volatile(\"probe: nop\"); return count() + buffer[0] + "
    "(int)demo::all[1].hits + (int)constant.hits; }\n";

static struct program p;

static void build(const char *options)
{
    char command[sizeof source + 200];

    snprintf(command, sizeof command, "cat >program.cc <<'END'\n%sEND\n%s -o $p program.cc", source,
             options);
    program_build(&p, command);
}

static struct symbols *opened(struct symbols_globals *globals, uint64_t bias)
{
    struct symbols *symbols;

    assert_int_equal(symbols_open(&symbols, &p.info, NULL), 0);
    assert_true(symbols_globals_find(symbols, bias + program_symbol(&p, "main"), globals));
    assert_true(globals->code == program_symbol(&p, "main"));
    return symbols;
}

static void expect(struct symbols *symbols, const struct symbols_globals *globals,
                   const char *symbol, uint64_t offset, const char *wanted)
{
    char text[SYMBOLS_GLOBAL_BYTES];
    uint64_t address = program_symbol(&p, symbol) + offset;

    assert_string_equal(symbols_globals_name(symbols, globals->file, address, false, text), wanted);
}

static void expect_parts(uint64_t bias)
{
    struct symbols_globals globals;
    struct symbols *symbols = opened(&globals, bias);
    char text[SYMBOLS_GLOBAL_BYTES];

    expect(symbols, &globals, "stats", 0, "stats.hits");
    expect(symbols, &globals, "stats", 8, "stats.misses");
    expect(symbols, &globals, "stats", 12, "stats.misses");
    expect(symbols, &globals, "table", 12 * 16, "table[12].next");
    expect(symbols, &globals, "table", 12 * 16 + 8, "table[12].key");
    expect(symbols, &globals, "table", 12 * 16 + 12, "table[12].whole");
    expect(symbols, &globals, "padded", 0, "padded.c");
    expect(symbols, &globals, "padded", 4, "padded+0x4");
    expect(symbols, &globals, "padded", 32, "padded.value");
    expect(symbols, &globals, "grid", 4 * (2 * 5 + 3), "grid[2][3]");
    expect(symbols, &globals, "buffer", 17, "buffer[17]");
    expect(symbols, &globals, "_ZN4demo6objectE", 0, "demo::object.first");
    expect(symbols, &globals, "_ZN4demo6objectE", 4, "demo::object.second");
    expect(symbols, &globals, "_ZN4demo3allE", 16 + 8, "demo::all[1].misses");
    expect(symbols, &globals, "_ZL8constant", 8, "constant.misses");
    expect(symbols, &globals, "_ZZ5countvE5inner", 8, "count()::inner.misses");
    symbols_globals_name(symbols, globals.file, program_symbol(&p, "stats") + 8, true, text);
    assert_string_equal(text, "stats");
    symbols_globals_name(symbols, globals.file, globals.start, false, text);
    assert_string_equal(text, "program");
    symbols_close(symbols);
}

static void parts_have_the_names_that_a_program_writes(void **state)
{
    static const char *const compilers[] = {"c++ -g -no-pie", "c++ -gdwarf-4 -no-pie",
                                            "clang++ -std=c++17 -g -no-pie"};

    (void)state;
    for (size_t i = 0; i < sizeof compilers / sizeof compilers[0]; i++) {
        build(compilers[i]);
        expect_parts(0);
        program_free(&p);
    }
    build("c++ -g -pie -fPIE");
    expect_parts(PROGRAM_BASE);
    program_free(&p);
}

static void without_debug_information_there_are_offsets(void **state)
{
    struct symbols_globals globals;
    struct symbols *symbols;

    (void)state;
    build("c++ -no-pie");
    symbols = opened(&globals, 0);
    expect(symbols, &globals, "stats", 0, "stats");
    expect(symbols, &globals, "stats", 12, "stats+0xc");
    symbols_close(symbols);
    program_free(&p);
}

/* Types that lead back to themselves, and sizes that overflow, end the walk. */
static void damaged_debug_information_ends_the_walk(void **state)
{
    struct symbols_globals globals;
    struct symbols *symbols;
    char text[SYMBOLS_GLOBAL_BYTES];
    uint64_t stats, table;

    (void)state;
    for (unsigned int seed = 1; seed < 40; seed++) {
        char command[300];

        build("c++ -g -no-pie");
        stats = program_symbol(&p, "stats");
        table = program_symbol(&p, "table");
        snprintf(command, sizeof command,
                 "o=$(readelf -SW $p | awk '{ sub(/^ *\\[ *[0-9]+\\] /, \"\") } $1 == "
                 "\".debug_info\" { print $4, $5 }'); set -- $o; for i in 1 2 3 4 5 6; do "
                 "printf '\\%o' | dd of=$p bs=1 conv=notrunc seek=$((0x$1 + (%u * 977 + i * 131) "
                 "%% 0x$2)); done",
                 seed * 7 % 256, seed);
        program_run(&p, command);
        assert_int_equal(symbols_open(&symbols, &p.info, NULL), 0);
        if (symbols_globals_find(symbols, p.map.meta.start, &globals)) {
            symbols_globals_name(symbols, globals.file, stats + 8, false, text);
            assert_memory_equal(text, "stats", 5);
            symbols_globals_name(symbols, globals.file, table + 200, false, text);
            assert_memory_equal(text, "table", 5);
        }
        symbols_close(symbols);
        program_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_have_the_names_that_a_program_writes),
        cmocka_unit_test(without_debug_information_there_are_offsets),
        cmocka_unit_test(damaged_debug_information_ends_the_walk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
