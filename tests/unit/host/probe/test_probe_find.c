/* Tests of host/probe/probe_find.c and probe_table.c: names become functions and places of a
 * program and a library that the test builds, and the table is as include/run_probes.h says. */
#include "host/probe/probe.h"

#include <stdio.h>
#include <string.h>

#include "tests/unit/host/tree.h"
#include "tests/unit/test.h"

#define PROGRAM                                                                     \
    "extern \"C\" int shared(int);\n"                                               \
    "int data = 3;\n"                                                               \
    "namespace demo {\n"                                                            \
    "struct box { int get(int) const; };\n"                                         \
    "__attribute__((noinline)) int box::get(int n) const { return n + data; }\n"    \
    "template <class T> __attribute__((noinline)) T twice(T n) { return n * 2; }\n" \
    "}\n"                                                                           \
    "static inline __attribute__((always_inline)) int gone(int n) {\n"              \
    "    return n * 3;\n"                                                           \
    "}\n"                                                                           \
    "extern \"C\" __attribute__((noinline)) int plain(int n) {\n"                   \
    "    demo::box box;\n"                                                          \
    "    return box.get(n) + gone(n);\n"                                            \
    "}\n"                                                                           \
    "extern \"C\" int alias(int) __attribute__((alias(\"plain\")));\n"              \
    "__asm__(\".globl odd\\n.type odd,@function\\nodd: nop; .byte 6\\n"             \
    ".size odd,.-odd\\n.globl both\\n.type both,@function\\nboth: nop\\n"           \
    ".globl half\\n.type half,@function\\nhalf: ret\\n.size both,.-both\\n"         \
    ".size half,.-half\\n\");\n"                                                    \
    "int main(int argc, char **) {\n"                                               \
    "    return plain(argc) + demo::twice(argc) + shared(argc);\n"                  \
    "}\n"

#define LIBRARY                                                       \
    "static int one(int n) { return n + 1; }\n"                       \
    "static void *choose(void) { return (void *)one; }\n"             \
    "int chosen(int) __attribute__((ifunc(\"choose\")));\n"           \
    "__attribute__((noinline)) int shared(int n) { return n * 5; }\n" \
    "int plain(int n) { return n; }\n"                                \
    "int shared_too(int n) { return chosen(n); }\n"                   \
    "void *valloc(unsigned long n) { return (void *)n; }\n"

static struct tree tree;
static char program[256], library[256];
static struct probe_object objects[2];
static struct run_failure failure;
static struct probe probe;

static int set_up(void **state)
{
    char command[1024];

    (void)state;
    tree_init(&tree);
    tree_put(&tree, "program.cc", PROGRAM);
    tree_put(&tree, "library.c", LIBRARY);
    snprintf(program, sizeof program, "%s/program", tree.root);
    snprintf(library, sizeof library, "%s/libshared.so.1", tree.root);
    snprintf(
        command, sizeof command,
        "cd %s && gcc -O2 -g -shared -fPIC -o libshared.so.1 library.c && g++ -O2 -g -o "
        "program program.cc ./libshared.so.1 -Wl,-rpath,. >log 2>&1 || { cat log >&2; false; }",
        tree.root);
    assert_int_equal(system(command), 0);
    objects[0] = (struct probe_object){program, program, NULL, false};
    objects[1] = (struct probe_object){library, library, "/usr/lib/libother.so", false};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tree_free(&tree);
    return 0;
}

/* OBJECT is none of the two. */
static int find_other(void *context, const char *name, char path[PATH_MAX], char place[PATH_MAX],
                      struct run_failure *why)
{
    (void)context;
    if (strcmp(name, "./program") != 0)
        return run_fail(why, "no object %s", name);
    snprintf(path, PATH_MAX, "%s", program);
    snprintf(place, PATH_MAX, "%s", program);
    return 0;
}

static int find_all(const char *const *specs, size_t count)
{
    const struct probe_wish wish = {
        .specs = specs,
        .spec_count = count,
        .objects = objects,
        .object_count = 2,
        .find = find_other,
    };

    failure = (struct run_failure){0};
    return probe_find(&probe, &wish, &failure);
}

/* Finds what a specification names: "name kind points path", without folders; or the failure. */
static const char *find_one(const char *spec)
{
    static char text[1024];
    int result = find_all(&spec, 1);

    text[0] = 0;
    for (size_t i = 0; i < probe.table.function_count && result == 0; i++) {
        const struct probe_function *f = &probe.table.functions[i];
        size_t used = strlen(text), points = 0;

        for (size_t n = 0; n < probe.table.point_count; n++)
            points += probe.table.points[n].point.function == i;
        snprintf(text + used, sizeof text - used, "%s%s %s %zu %s", used != 0 ? "; " : "", f->name,
                 f->kind == HR_PROBE_FUNCTION ? "function" : "place", points,
                 strrchr(f->file->path, '/') + 1);
    }
    probe_free(&probe);
    return result == 0 ? text : failure.text;
}

static void names(void **state)
{
    (void)state;
    assert_string_equal(find_one("plain"), "plain function 2 program");
    assert_string_equal(find_one("alias"), "alias function 2 program");
    assert_string_equal(find_one("shared"), "shared function 2 libshared.so.1");
    assert_string_equal(find_one("libshared:plain"), "plain function 2 libshared.so.1");
    assert_string_equal(find_one("libshared.so:plain"), "plain function 2 libshared.so.1");
    assert_string_equal(find_one("libother:plain"), "plain function 2 libshared.so.1");
    assert_string_equal(find_one("libsh*:plain"), "plain function 2 libshared.so.1");
    assert_string_equal(find_one("./program:plain"), "plain function 2 program");
    assert_string_equal(find_one("nolib:plain"), "no object nolib");
}

static void names_of_c_plus_plus(void **state)
{
    static const char get[] = "_ZNK4demo3box3getEi function 2 program";
    static const char twice[] = "_ZN4demo5twiceIiEET_S1_ function 2 program";

    (void)state;
    assert_string_equal(find_one("demo::box::get"), get);
    assert_string_equal(find_one("demo::box::get(int) const"), get);
    assert_string_equal(find_one("_ZNK4demo3box3getEi"), get);
    assert_string_equal(find_one("program:demo::box::get"), get);
    assert_string_equal(find_one("demo::b*"), get);
    assert_string_equal(find_one("demo::twice"), twice);
    assert_string_equal(find_one("demo::twice<int>"), twice);
}

static void globs(void **state)
{
    (void)state;
    assert_string_equal(find_one("shared*"),
                        "shared function 2 libshared.so.1; shared_too function 1 libshared.so.1");
    assert_string_equal(find_one("pl?in"), "plain function 2 program");
    assert_non_null(strstr(find_one("libshared:@all"), "shared_too function 1 libshared.so.1"));
    assert_non_null(strstr(find_one("@all"), "main function"));
    assert_null(strstr(find_one("@all"), "libshared"));
    assert_non_null(strstr(find_one("nothing*"), "no such function"));
}

static void places(void **state)
{
    (void)state;
    assert_string_equal(find_one("plain+0"), "plain+0 place 1 program");
    assert_non_null(strstr(find_one("plain+0x4000"), "bytes of code"));
    assert_string_equal(find_one("both+0x1"), "both+0x1 place 1 program");
    assert_string_equal(find_one("program.cc:13"), "program.cc:13 place 1 program");
    assert_string_equal(find_one("program.cc:9"), "program.cc:9 place 1 program");
    assert_non_null(strstr(find_one("program.cc:7"), "nearest lines with code are 6 and 8"));
    assert_non_null(strstr(find_one("other.cc:8"), "no debug information knows"));
    assert_non_null(strstr(find_one("0x10"), "no code at this address"));
}

static void what_cannot_have_a_probe(void **state)
{
    (void)state;
    assert_non_null(strstr(find_one("data"), "it is data of"));
    assert_non_null(strstr(find_one("gone"), "inlined into all"));
    assert_non_null(strstr(find_one("chosen"), "IFUNC"));
    assert_non_null(strstr(find_one("odd"), "+0x1 are no instruction"));
    assert_non_null(strstr(find_one("odd*"), "no function of it can have a probe"));
    assert_non_null(strstr(find_one("plan"), "the nearest names are plain"));
    assert_non_null(strstr(find_one("linux-vdso.so.1:time"), "the vDSO"));
    assert_non_null(strstr(find_one("program:"), "the function is missing"));
    assert_non_null(strstr(find_one(":f"), "the object is missing"));
    objects[0].place = "/dev/null";
    assert_non_null(strstr(find_one("plain"), "not an ELF file"));
    objects[0].place = program;
}

static void functions_that_share_code(void **state)
{
    static const char *const named[] = {"both", "half"}, *const twice[] = {"plain", "pl*", "alias"};
    static const char *const place[] = {"plain", "plain+0"}, *const glob[] = {"?oth", "half"};

    (void)state;
    assert_int_equal(find_all(named, 2), -1);
    assert_non_null(strstr(failure.text, "--probe both and --probe half"));
    probe_free(&probe);
    assert_int_equal(find_all(place, 2), -1);
    probe_free(&probe);
    assert_int_equal(find_all(twice, 3), 0);
    assert_int_equal(probe.table.function_count, 1);
    assert_int_equal(probe.overlapping, 0);
    probe_free(&probe);
    assert_int_equal(find_all(glob, 2), 0); /* the one that was named stays */
    assert_int_equal(probe.table.function_count, 1);
    assert_string_equal(probe.table.functions[0].name, "half");
    assert_int_equal(probe.overlapping, 1);
    probe_free(&probe);
}

/* Walks the records at the table's end; returns how many there are of a type. */
static size_t count_records(const uint8_t *at, size_t bytes, uint8_t type)
{
    struct hr_record_header header;
    size_t count = 0;

    while (bytes != 0) {
        assert_true(bytes >= sizeof header);
        memcpy(&header, at, sizeof header);
        assert_true(header.bytes <= bytes - sizeof header);
        count += header.type == type;
        at += sizeof header + header.bytes;
        bytes -= sizeof header + header.bytes;
    }
    return count;
}

static void the_table(void **state)
{
    static const char *const specs[] = {"shared", "plain", "main+0"};
    struct run_probe_object object[2];
    struct run_probes_header header;
    struct run_probe_point points[5];
    const uint8_t *at;
    size_t bytes;
    uint8_t *table;

    (void)state;
    assert_int_equal(find_all(specs, 3), 0);
    assert_int_equal(probe_table_write(&probe.table, 2, 7, &table, &bytes, &failure), 0);
    memcpy(&header, table, sizeof header);
    assert_true(header.magic == RUN_PROBES_MAGIC);
    assert_int_equal(header.object_count, 2);
    assert_int_equal(header.point_count, 5);
    assert_int_equal(header.argument_count, 2);
    assert_int_equal(header.every, 7);
    memcpy(object, table + sizeof header, sizeof object);
    memcpy(points, table + sizeof header + sizeof object, sizeof points);
    at = table + sizeof header + sizeof object + sizeof points;
    assert_int_equal(header.path_bytes, strlen(library) + strlen(program));
    assert_memory_equal(at, library, strlen(library)); /* by path */
    assert_int_equal(object[1].path_offset, strlen(library));
    assert_int_equal(object[1].first_point, object[0].point_count);
    for (size_t i = object[1].first_point + 1; i < 5; i++)
        assert_true(points[i].file_offset > points[i - 1].file_offset);
    assert_int_equal(points[0].function, 0);
    assert_int_equal(points[0].kind, RUN_PROBE_ENTRY);
    at += header.path_bytes;
    assert_int_equal((size_t)(table + bytes - at), header.meta_bytes);
    assert_int_equal(count_records(at, header.meta_bytes, HR_META_PROBES), 1);
    assert_int_equal(count_records(at, header.meta_bytes, HR_META_PROBE_FUNCTION), 3);
    assert_int_equal(count_records(at, header.meta_bytes, HR_META_PROBE_POINTS), 1);
    free(table);
    probe_free(&probe);
}

/* A library that cannot be opened has no allocator, whatever was found before it. */
static void allocators(void **state)
{
    struct probe_object heaps[] = {{.path = library, .place = library},
                                   {.path = "libgone.so", .place = "/dev/null", .allocates = true}};
    const struct probe_wish wish = {.alloc = true, .objects = heaps, .object_count = 2};

    (void)state;
    failure = (struct run_failure){0};
    assert_int_equal(probe_find(&probe, &wish, &failure), -1);
    assert_non_null(strstr(failure.text, "--alloc-library: libgone.so has no symbol of an"));
    probe_free(&probe);
}

static void too_many_points(void **state)
{
    static struct probe_code_point point;
    struct probe_table table = {.function_count = 1};
    struct probe_file *file = probe_file_new(program, program);

    (void)state;
    failure = (struct run_failure){0};
    assert_int_equal(probe_file_open(file), 0);
    table.functions = calloc(1, sizeof *table.functions);
    table.functions[0] = (struct probe_function){.file = file, .spec = "libbig:@all"};
    point.address = file->symbols[file->count / 2].start;
    for (size_t i = 0; i < file->count; i++)
        if (file->symbols[i].kind == PROBE_SYMBOL_FUNCTION)
            point.address = file->symbols[i].start;
    for (size_t i = 0; i < HR_PROBE_POINTS_MAX; i++)
        assert_int_equal(probe_table_add_point(&table, &point, &failure), 0);
    assert_int_equal(probe_table_add_point(&table, &point, &failure), -1);
    assert_non_null(strstr(failure.text, "--probe libbig:@all: more than 1048576 points"));
    probe_table_free(&table);
    probe_file_free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(names_of_c_plus_plus),
        cmocka_unit_test(globs),
        cmocka_unit_test(places),
        cmocka_unit_test(what_cannot_have_a_probe),
        cmocka_unit_test(functions_that_share_code),
        cmocka_unit_test(the_table),
        cmocka_unit_test(allocators),
        cmocka_unit_test(too_many_points),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
