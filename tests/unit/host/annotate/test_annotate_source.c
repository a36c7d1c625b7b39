/* Tests of host/annotate/annotate_source.c: lines of all kinds, folders, and what is no source
 * file. */
#include "host/annotate/annotate_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/test.h"

static char folder[] = "/tmp/test_annotate_source.XXXXXX";

static char *write_file(char path[256], const char *name, const char *text, size_t bytes)
{
    FILE *f;

    snprintf(path, 256, "%s/%s", folder, name);
    f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, bytes, f), bytes);
    fclose(f);
    return path;
}

static void lines_end_in_all_ways(void **state)
{
    struct annotate_source source;
    char path[256];

    (void)state;
    annotate_source_init(&source, NULL);
    write_file(path, "lines.c", "first\r\n\nthird\0hidden\nlast", 25);
    assert_string_equal(annotate_source_line(&source, path, 1), "first");
    assert_string_equal(annotate_source_line(&source, path, 2), "");
    assert_string_equal(annotate_source_line(&source, path, 3), "third");
    assert_string_equal(annotate_source_line(&source, path, 4), "last");
    assert_null(annotate_source_line(&source, path, 5));
    assert_null(annotate_source_line(&source, path, 0));
    assert_null(annotate_source_line(&source, path, UINT32_MAX));
    annotate_source_free(&source);
    annotate_source_init(&source, NULL);
    write_file(path, "lines.c", "", 0);
    assert_string_equal(annotate_source_line(&source, path, 1), "");
    assert_null(annotate_source_line(&source, path, 2));
    annotate_source_free(&source);
}

static void the_folder_comes_first(void **state)
{
    struct annotate_source source;
    char path[256], folder_of[300];

    (void)state;
    snprintf(folder_of, sizeof folder_of, "%s/tree", folder);
    mkdir(folder_of, 0700);
    snprintf(path, sizeof path, "%s/tree/sub", folder);
    mkdir(path, 0700);
    write_file(path, "tree/sub/one.c", "by its end", 10);
    write_file(path, "tree/two.c", "by its name", 11);
    annotate_source_init(&source, folder_of);
    assert_string_equal(annotate_source_line(&source, "/away/sub/one.c", 1), "by its end");
    assert_string_equal(annotate_source_line(&source, "/away//two.c", 1), "by its name");
    assert_string_equal(annotate_source_line(&source, "two.c", 1), "by its name");
    assert_null(annotate_source_line(&source, "/away/three.c", 1));
    write_file(path, "three.c", "as recorded", 11);
    assert_string_equal(annotate_source_line(&source, path, 1), "as recorded");
    annotate_source_free(&source);
}

static void what_is_no_source_has_no_lines(void **state)
{
    struct annotate_source source;
    char path[256];

    (void)state;
    annotate_source_init(&source, NULL);
    assert_null(annotate_source_line(&source, folder, 1));
    assert_null(annotate_source_line(&source, "/dev/zero", 1));
    assert_null(annotate_source_line(&source, "", 1));
    snprintf(path, sizeof path, "%s/fifo", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_null(annotate_source_line(&source, path, 1)); /* and does not wait */
    write_file(path, "large.c", "", 0);
    assert_int_equal(truncate(path, 64 << 20), 0);
    assert_null(annotate_source_line(&source, path, 1));
    annotate_source_free(&source);
}

static void files_are_bounded(void **state)
{
    static char names[ANNOTATE_SOURCE_FILES_MAX + 1][32];
    struct annotate_source source;
    char path[256];

    (void)state;
    annotate_source_init(&source, NULL);
    write_file(path, "late.c", "late", 4);
    for (size_t i = 0; i < ANNOTATE_SOURCE_FILES_MAX; i++) {
        snprintf(names[i], sizeof names[i], "/nowhere/%zu.c", i);
        assert_null(annotate_source_line(&source, names[i], 1));
    }
    assert_null(annotate_source_line(&source, path, 1));
    annotate_source_free(&source);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[300];

    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_end_in_all_ways),
        cmocka_unit_test(the_folder_comes_first),
        cmocka_unit_test(what_is_no_source_has_no_lines),
        cmocka_unit_test(files_are_bounded),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
