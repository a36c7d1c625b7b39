/* Libraries are found where ld.so finds them: on this system's own programs, and in a tree of
 * libraries that each look for each other in another way.
 */
#include "tests/unit/test.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/pack/libraries/pack_libraries.h"
#include "host/pack/libraries/pack_object.h"

#define INTERPRETER "/lib64/ld-linux-x86-64.so.2"
#define PROGRAMS 60 /* of /usr/bin: every so many-th; all of them with PACK_TEST_ALL */

static char directory[] = "/tmp/test_libraries.XXXXXX";

static bool is_listed(const struct pack_libraries *l, const char *path)
{
    char wanted[PATH_MAX];
    char real[PATH_MAX];

    assert_non_null(realpath(path, wanted));
    for (size_t i = 1; i < l->count; i++)
        if (realpath(l->objects[i]->path, real) != NULL && strcmp(real, wanted) == 0)
            return true;
    return false;
}

/* What the dynamic linker itself says, compared with what was found. */
static void compare(const char *program, const char *library_path)
{
    struct pack_list list = {0};
    struct pack_libraries l;
    char command[3 * PATH_MAX];
    char line[PATH_MAX + 256];
    size_t count = 0;
    bool missing = false;
    FILE *trace;
    int result;

    pack_libraries_init(&l, &list, INTERPRETER);
    l.library_path = library_path;
    result = pack_libraries_add(&l, program);
    snprintf(command, sizeof command, "LD_LIBRARY_PATH='%s' %s --list '%s' 2>&1",
             library_path != NULL ? library_path : "", INTERPRETER, program);
    trace = popen(command, "r");
    assert_non_null(trace);
    while (fgets(line, sizeof line, trace) != NULL) {
        char *arrow = strstr(line, " => ");
        char *path = arrow != NULL ? arrow + 4 : line + strspn(line, " \t");

        missing |= strstr(line, "not found") != NULL || strstr(line, "cannot open") != NULL;
        if (strchr(path, '/') == NULL || strstr(line, "ld-linux") != NULL ||
            strstr(path, " (0x") == NULL)
            continue;
        *strstr(path, " (0x") = 0;
        if (!is_listed(&l, path))
            fail_msg("%s: %s is not listed", program, path);
        count++;
    }
    pclose(trace);
    assert_int_equal(result, missing ? -ELIBACC : 0);
    for (size_t i = 1; i < l.count; i++) /* a linker that is needed by name is listed, too */
        count += strstr(l.objects[i]->path, "ld-linux") != NULL;
    if (!missing && l.count - 1 != count)
        fail_msg("%s: %zu libraries, ld.so has %zu", program, l.count - 1, count);
    pack_libraries_free(&l);
    pack_list_free(&list);
}

static bool is_dynamic(const char *path)
{
    struct pack_object *object;
    bool dynamic;

    if (access(path, X_OK) != 0 || pack_object_read(path, path, &object) != 0)
        return false;
    dynamic = object->needed[0] != NULL;
    pack_object_free(object);
    return dynamic;
}

static void this_systems_programs(void **state)
{
    struct dirent **names;
    int count = scandir("/usr/bin", &names, NULL, alphasort);
    int step = getenv("PACK_TEST_ALL") != NULL ? 1 : count / PROGRAMS + 1;
    int compared = 0;

    (void)state;
    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];

        snprintf(path, sizeof path, "/usr/bin/%s", names[i]->d_name);
        if (i % step == 0 && is_dynamic(path)) {
            compare(path, NULL);
            compared++;
        }
        free(names[i]);
    }
    free(names);
    assert_true(compared > 0);
}

/* Builds a library or program in the directory with the compiler. */
static void build(const char *output, const char *flags, const char *source)
{
    char command[4 * PATH_MAX];

    snprintf(command, sizeof command,
             "cd %s && mkdir -p $(dirname %s) && printf '%%s' '%s' | gcc -o %s -x c - -x none %s",
             directory, output, source, output, flags);
    assert_int_equal(system(command), 0);
}

static const char *in_directory(const char *name)
{
    static char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static int set_up(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(directory));
    /* The same library in five places; the test is which of them is found. */
    for (const char *const *place =
             (const char *const[]){"a", "b", "c", "deep/c", "deep/glibc-hwcaps/x86-64-v3", NULL};
         *place != NULL; place++) {
        char output[PATH_MAX];

        snprintf(output, sizeof output, "%s/libleaf.so", *place);
        build(output, "-shared -fPIC", "int leaf(void) { return 1; }");
    }
    build("deep/libmid.so", "-shared -fPIC -Wl,-rpath,\\$ORIGIN/c -Lc -lleaf",
          "int leaf(void); int mid(void) { return leaf(); }");
    build("deep/libplain.so", "-shared -fPIC -Lc -lleaf",
          "int leaf(void); int plain(void) { return leaf(); }");
    build("runpath", "-Wl,--enable-new-dtags,-rpath,\\$ORIGIN/b -Lb -lleaf",
          "int leaf(void); int main(void) { return leaf(); }");
    build("rpath", "-Wl,--disable-new-dtags,-rpath,\\${ORIGIN}/a:\\$ORIGIN/b -Lb -lleaf",
          "int leaf(void); int main(void) { return leaf(); }");
    build("through",
          "-Wl,--enable-new-dtags,-rpath,\\$ORIGIN/deep -Ldeep -lmid "
          "-Wl,-rpath-link,c",
          "int mid(void); int main(void) { return mid(); }");
    build("inherit",
          "-Wl,--disable-new-dtags,-rpath,\\$ORIGIN/deep:\\$ORIGIN/b -Ldeep -lplain "
          "-Wl,-rpath-link,c",
          "int plain(void); int main(void) { return plain(); }");
    build("not-inherited",
          "-Wl,--enable-new-dtags,-rpath,\\$ORIGIN/deep -Ldeep -lplain -Wl,-rpath-link,c",
          "int plain(void); int main(void) { return plain(); }");
    build("slash", "./c/libleaf.so", "int leaf(void); int main(void) { return leaf(); }");
    return 0;
}

static int tear_down(void **state)
{
    char command[PATH_MAX];

    (void)state;
    snprintf(command, sizeof command, "rm -r %s", directory);
    return system(command);
}

/* Which libleaf.so a program gets: its directory below ours, or "" for none. */
static const char *leaf_of(const char *program, const char *library_path)
{
    static char found[PATH_MAX];
    struct pack_list list = {0};
    struct pack_libraries l;

    found[0] = 0;
    pack_libraries_init(&l, &list, INTERPRETER);
    l.library_path = library_path;
    (void)pack_libraries_add(&l, in_directory(program));
    for (size_t i = 1; i < l.count && found[0] == 0; i++)
        if (strstr(l.objects[i]->path, "/libleaf.so") != NULL) {
            snprintf(found, sizeof found, "%s", l.objects[i]->path + strlen(directory) + 1);
            *strrchr(found, '/') = 0;
        }
    pack_libraries_free(&l);
    pack_list_free(&list);
    return found;
}

static void search_order(void **state)
{
    char path[2 * PATH_MAX];

    (void)state;
    snprintf(path, sizeof path, "/nowhere:%s/c", directory);
    assert_string_equal(leaf_of("runpath", NULL), "b");
    assert_string_equal(leaf_of("runpath", path), "c"); /* LD_LIBRARY_PATH before RUNPATH */
    assert_string_equal(leaf_of("rpath", NULL), "a");
    assert_string_equal(leaf_of("rpath", path), "a"); /* but after RPATH */
    assert_string_equal(leaf_of("through", NULL), "deep/c");
    assert_string_equal(leaf_of("inherit", NULL), "deep/glibc-hwcaps/x86-64-v3");
    assert_string_equal(leaf_of("not-inherited", NULL), "");
    assert_string_equal(leaf_of("not-inherited", path), "c");
    assert_int_equal(chdir(directory), 0);
    assert_string_equal(leaf_of("slash", NULL), "c");
}

static void as_the_linker_says(void **state)
{
    static const char *const programs[] = {"runpath", "rpath", "through", "not-inherited", "slash"};
    char path[2 * PATH_MAX];

    (void)state;
    assert_int_equal(chdir(directory), 0);
    snprintf(path, sizeof path, "%s/c:%s/a", directory, directory);
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        compare(in_directory(programs[i]), NULL);
        compare(in_directory(programs[i]), path);
    }
}

static void what_is_missing_is_named(void **state)
{
    struct pack_list list = {0};
    struct pack_libraries l;

    (void)state;
    pack_libraries_init(&l, &list, INTERPRETER);
    assert_int_equal(pack_libraries_add(&l, in_directory("not-inherited")), -ELIBACC);
    assert_string_equal(l.missing, "libleaf.so");
    assert_string_equal(l.missed_by, in_directory("deep/libplain.so"));
    assert_int_equal(pack_libraries_add_name(&l, "libnothing.so.1"), -ELIBACC);
    assert_int_equal(pack_libraries_add_name(&l, "libc.so.6"), 0);
    pack_libraries_free(&l);
    pack_list_free(&list);
}

static void names_are_expanded(void **state)
{
    const struct pack_object object = {.origin = (char *)"/o"};
    static const struct {
        const char *text;
        const char *wanted;
    } cases[] = {
        {"$ORIGIN/x", "/o/x"},
        {"${ORIGIN}x", "/ox"},
        {"a/$PLATFORM", "a/haswell"},
        {"$OTHER", "$OTHER"},
        {"$", "$"},
        {"${ORIGIN", "${ORIGIN"},
        {"", ""},
        {"$ORIGIN$ORIGIN", "/o/o"},
    };
    char out[PATH_MAX];
    char large[2 * PATH_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(pack_object_expand(&object, cases[i].text, strlen(cases[i].text), out));
        assert_string_equal(out, cases[i].wanted);
    }
    memset(large, 'x', sizeof large);
    assert_false(pack_object_expand(&object, large, sizeof large, out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(this_systems_programs), cmocka_unit_test(search_order),
        cmocka_unit_test(as_the_linker_says),    cmocka_unit_test(what_is_missing_is_named),
        cmocka_unit_test(names_are_expanded),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
