/* Tests of separate debug files: where they are found, and which are refused. */
#include "host/symbols/symbols.h"
#include "tests/unit/host/program.h"
#include "tests/unit/test.h"

/* Linked without symbols of its own but `exported`; what is cut off is in program.debug. */
#define SHARED "g++ -O2 -g -shared -fPIC -fvisibility=hidden -o $p program.cc && "
#define SPLIT "objcopy --only-keep-debug $p $p.debug && cp $p whole && strip $p"

struct fixture {
    struct program program;
    struct symbols *symbols;
    struct symbols_options options;
    char folder[128]; /* for --debug-dir */
};

/* program_symbol needs the symbols, which the stripped file has not: so it is mapped first. */
static void build(struct fixture *f, const char *command, const char *then)
{
    memset(f, 0, sizeof *f);
    program_build(&f->program, command);
    program_run(&f->program, then);
    snprintf(f->folder, sizeof f->folder, "%s/folder", f->program.tree.root);
}

static void finish(struct fixture *f)
{
    program_free(&f->program);
}

static const char *source_line(struct fixture *f, char text[128])
{
    struct symbols_frame frames[SYMBOLS_FRAMES_MAX];
    uint32_t count = symbols_frames(f->symbols, f->program.probe, frames);
    const char *name = frames[count - 1].function;

    snprintf(text, 128, "%u %s %u", count, name != NULL ? name : "-", frames[count - 1].line);
    return text;
}

#define FOUND "3 demo::work(int, int) 11"
#define UNKNOWN "1 program+0x" /* by its address, which .eh_frame knows */

/* What is known of the probe, and the problems that are told, one a line. */
static void expect(struct fixture *f, const char *wanted, const char *problem)
{
    const char *file, *text;
    char line[128];

    assert_int_equal(symbols_open(&f->symbols, &f->program.info, &f->options), 0);
    source_line(f, line);
    if (strcmp(wanted, UNKNOWN) == 0)
        line[strlen(UNKNOWN)] = 0;
    assert_string_equal(line, wanted);
    text = symbols_problem(f->symbols, 0, &file);
    if (problem == NULL) {
        assert_null(text);
    } else {
        assert_non_null(text);
        if (strstr(text, problem) == NULL)
            fail_msg("not in \"%s\": %s", text, problem);
        assert_string_equal(file, f->program.recorded);
    }
    symbols_close(f->symbols);
}

static void move_to_build_id(struct fixture *f, const char *folder)
{
    char name[256], command[1024];

    program_build_id_name(&f->program, folder, ".debug", name);
    snprintf(command, sizeof command, "mkdir -p $(dirname %s) && mv program.debug %s", name, name);
    program_run(&f->program, command);
}

static void build_id_finds_it_in_a_folder(void **state)
{
    struct fixture f;

    (void)state;
    build(&f, SHARED "true", SPLIT);
    expect(&f, FOUND, NULL); /* beside the file it needs no more than its name */
    move_to_build_id(&f, "folder");
    expect(&f, UNKNOWN, "no debug file of it"); /* nobody named the folder */
    f.options.debug_dirs[0] = "/nonexistent";
    f.options.debug_dirs[1] = f.folder;
    f.options.debug_dir_count = 2;
    expect(&f, FOUND, NULL);
    finish(&f);
}

static void link_finds_it_beside_the_file(void **state)
{
    struct fixture f;

    (void)state;
    build(&f, SHARED "true",
          SPLIT " && mv $p.debug linked && objcopy --add-gnu-debuglink=linked $p");
    expect(&f, FOUND, NULL);
    program_run(&f.program, "mkdir .debug && mv linked .debug");
    expect(&f, FOUND, NULL);
    program_run(&f.program, "mkdir -p folder/$PWD && mv .debug/linked folder/$PWD");
    expect(&f, UNKNOWN, "no debug file of it");
    f.options.debug_dirs[f.options.debug_dir_count++] = f.folder;
    expect(&f, FOUND, NULL);
    finish(&f);
}

#define OTHER "sed -i 's/x \\* 3/x * 5/' program.cc && "

static void other_build_is_refused(void **state)
{
    struct fixture f;

    (void)state;
    build(&f, SHARED "true",
          SPLIT " && objcopy --add-gnu-debuglink=$p.debug $p && p=other && " OTHER SHARED SPLIT
                " && mv other.debug program.debug");
    expect(&f, UNKNOWN, "program.debug is the debug file of another build");
    finish(&f);
}

/* Without a build-id the checksum in .gnu_debuglink decides. */
static void checksum_decides_without_a_build_id(void **state)
{
    struct fixture f;

    (void)state;
    build(&f, "g++ -Wl,--build-id=none -O2 -g -shared -fPIC -fvisibility=hidden -o $p program.cc",
          SPLIT " && objcopy --add-gnu-debuglink=$p.debug $p");
    assert_int_equal(f.program.map.meta.build_id_bytes, 0);
    expect(&f, FOUND, NULL);
    program_run(&f.program, "printf x >>$p.debug");
    expect(&f, UNKNOWN, "another build");
    finish(&f);
}

/* Two programs' common debug information in one file, as distributions ship it. */
static void common_debug_information_is_followed(void **state)
{
    struct fixture f;

    (void)state;
    build(&f, SHARED "true",
          SPLIT " && objcopy --add-gnu-debuglink=$p.debug $p && p=other && " OTHER SHARED SPLIT
                " && dwz -m common.debug -M common.debug program.debug other.debug && "
                "readelf -SW program.debug | grep gnu_debugaltlink");
    program_run(&f.program, "objcopy --remove-section=.gnu_debuglink $p && "
                            "objcopy --add-gnu-debuglink=$p.debug $p");
    expect(&f, FOUND, NULL);
    finish(&f);
}

/* .gnu_debugdata: the symbols, packed, in the stripped file itself. */
static void packed_symbols_are_read(void **state)
{
    struct fixture f;

    (void)state;
    build(
        &f, SHARED "true",
        "cp $p mini && strip --strip-debug mini && objcopy -S --keep-symbol=_ZN4demo4workEii mini "
        "&& xz -k mini && strip $p && objcopy --add-section .gnu_debugdata=mini.xz $p");
    expect(&f, "1 demo::work(int, int) 0", "no debug information");
    finish(&f);
}

/* A library that another build has replaced; the old one is kept by its build-id. */
static void replaced_library_is_found_by_build_id(void **state)
{
    char name[256], command[1024];
    struct fixture f;

    (void)state;
    build(&f, SHARED "true", "mv $p kept && " OTHER SHARED "true");
    f.program.map.meta.flags = 0;
    expect(&f, "1 - 0", "build-id");
    program_build_id_name(&f.program, "folder", "", name);
    snprintf(command, sizeof command, "mkdir -p $(dirname %s) && mv kept %s", name, name);
    program_run(&f.program, command);
    f.options.debug_dirs[f.options.debug_dir_count++] = f.folder;
    expect(&f, FOUND, NULL);
    finish(&f);
}

/* A library of which nothing is known but its code, and a file of another build for it. */
static void other_build_is_told_where_nothing_is_known(void **state)
{
    struct fixture f;

    (void)state;
    build(&f, "g++ -O2 -g -static -o $p program.cc",
          SPLIT " && objcopy --add-gnu-debuglink=$p.debug $p && " OTHER
                "g++ -O2 -g -static -o other program.cc && mv other $p.debug");
    expect(&f, UNKNOWN, "program.debug is the debug file of another build");
    finish(&f);
}

static void a_stripped_program_is_told(void **state)
{
    struct fixture f;

    (void)state;
    build(&f, "g++ -O2 -g -static -o $p program.cc", "strip $p");
    expect(&f, UNKNOWN, "stripped: showing functions by address");
    finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(build_id_finds_it_in_a_folder),
        cmocka_unit_test(link_finds_it_beside_the_file),
        cmocka_unit_test(other_build_is_refused),
        cmocka_unit_test(checksum_decides_without_a_build_id),
        cmocka_unit_test(common_debug_information_is_followed),
        cmocka_unit_test(packed_symbols_are_read),
        cmocka_unit_test(replaced_library_is_found_by_build_id),
        cmocka_unit_test(other_build_is_told_where_nothing_is_known),
        cmocka_unit_test(a_stripped_program_is_told),
    };

    unsetenv("DEBUGINFOD_URLS");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
