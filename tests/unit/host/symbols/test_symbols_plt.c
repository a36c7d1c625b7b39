/* Tests of host/symbols/symbols_plt.c: stubs have the names that objdump gives them. */
#include "host/symbols/symbols_plt.h"

#include "host/symbols/symbols.h"
#include "tests/unit/host/program.h"
#include "tests/unit/test.h"

/* Looks up every stub that objdump names; how many. */
static int compare(const struct program *program, struct symbols *symbols)
{
    char command[256], name[256];
    unsigned long long address;
    struct symbols_place place;
    int count = 0;
    FILE *dump;

    snprintf(command, sizeof command,
             "objdump -d %s | sed -n 's/^\\([0-9a-f]*\\) <\\(.*@plt\\)>:$/\\1 \\2/p'",
             program->path);
    dump = popen(command, "r");
    assert_non_null(dump);
    while (fscanf(dump, "%llx %255s", &address, name) == 2) {
        if (program->map.meta.start >= PROGRAM_BASE)
            address += PROGRAM_BASE;
        assert_true(symbols_find(symbols, address + 2, &place));
        assert_string_equal(place.name, name);
        assert_int_equal(place.offset, 2);
        count++;
    }
    pclose(dump);
    return count;
}

static void stubs_have_names(void **state)
{
    static const char *const commands[] = {
        "g++ -O2 -fcf-protection=none -shared -fPIC -o $p program.cc",
        "g++ -O2 -fcf-protection=full -Wl,-z,ibtplt -shared -fPIC -o $p program.cc",
        "g++ -O2 -fcf-protection=none -Wl,-z,now -shared -fPIC -o $p program.cc",
        "clang++ -O2 -shared -fPIC -o $p program.cc",
    };
    struct symbols *symbols;
    struct program program;

    (void)state;
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        print_message("  %s\n", commands[i]);
        program_build(&program, commands[i]);
        assert_int_equal(
            symbols_open(&symbols, &program.info, &(struct symbols_options){.raw_names = true}), 0);
        assert_true(compare(&program, symbols) >= 2);
        symbols_close(symbols);
        program_free(&program);
    }
}

/* That of its function, demangled, too. */
static void names_are_demangled(void **state)
{
    struct symbols_place place;
    struct symbols *symbols;
    struct program program;
    int found = 0;

    (void)state;
    program_build(&program, "g++ -O2 -shared -fPIC -o $p program.cc");
    assert_int_equal(symbols_open(&symbols, &program.info, NULL), 0);
    for (uint64_t address = program.map.meta.start; address < program.map.meta.end; address += 16)
        found += symbols_find(symbols, address, &place) && place.name != NULL &&
                 strcmp(place.name, "demo::work(int, int)@plt") == 0;
    assert_int_equal(found, 1);
    symbols_close(symbols);
    program_free(&program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stubs_have_names),
        cmocka_unit_test(names_are_demangled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
