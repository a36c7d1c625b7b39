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

/* Where the file has its debug information. */
static off_t debug_information(uint64_t *bytes)
{
    int fd = open(p.path, O_RDONLY);
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    size_t names;
    Elf *elf;

    elf = elf_begin(fd, ELF_C_READ, NULL);
    assert_non_null(elf);
    assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
    do {
        section = elf_nextscn(elf, section);
        assert_non_null(gelf_getshdr(section, &header));
    } while (strcmp(elf_strptr(elf, names, header.sh_name), ".debug_info") != 0);
    elf_end(elf);
    close(fd);
    *bytes = header.sh_size;
    return (off_t)header.sh_offset;
}

/* Types that lead back to themselves, and sizes that overflow, end the walk. */
static void damaged_debug_information_ends_the_walk(void **state)
{
    struct symbols_globals globals;
    struct symbols *symbols;
    char text[SYMBOLS_GLOBAL_BYTES];
    uint64_t stats, table, bytes;
    off_t start;
    int fd;

    (void)state;
    build("c++ -g -no-pie");
    stats = program_symbol(&p, "stats");
    table = program_symbol(&p, "table");
    start = debug_information(&bytes);
    fd = open(p.path, O_RDWR);
    for (unsigned int seed = 1; seed < 40; seed++) {
        uint8_t damage = (uint8_t)(seed * 7), kept[6];
        off_t at[6];

        for (unsigned int i = 0; i < 6; i++) {
            at[i] = start + (off_t)((seed * 977 + (i + 1) * 131) % bytes);
            assert_int_equal(pread(fd, &kept[i], 1, at[i]), 1);
            assert_int_equal(pwrite(fd, &damage, 1, at[i]), 1);
        }
        assert_int_equal(symbols_open(&symbols, &p.info, NULL), 0);
        if (symbols_globals_find(symbols, p.map.meta.start, &globals)) {
            symbols_globals_name(symbols, globals.file, stats + 8, false, text);
            assert_memory_equal(text, "stats", 5);
            symbols_globals_name(symbols, globals.file, table + 200, false, text);
            assert_memory_equal(text, "table", 5);
        }
        symbols_close(symbols);
        for (unsigned int i = 6; i-- > 0;)
            assert_int_equal(pwrite(fd, &kept[i], 1, at[i]), 1);
    }
    close(fd);
    program_free(&p);
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
