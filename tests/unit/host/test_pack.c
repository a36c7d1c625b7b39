/* The archive of a run: what is in it, in which order, under which names; and programs refused. */
#include "tests/unit/test.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/pack.h"
#include "host/pack_archive.h"
#include "lib/cpio.h"

static char directory[] = "/tmp/test_pack.XXXXXX";
static struct run_failure failure;

static const char *in_directory(const char *name)
{
    static char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static void write_file(const char *name, const void *bytes, size_t count, mode_t mode)
{
    int fd = open(in_directory(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, count), count);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static int set_up(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(directory));
    assert_int_equal(mkdir(in_directory("tree"), 0755), 0);
    write_file("tree/b", "bytes", 5, 0640);
    write_file("tree/a", "", 0, 0644);
    assert_int_equal(symlink("b", in_directory("tree/link")), 0);
    assert_int_equal(mkfifo(in_directory("tree/pipe"), 0600), 0);
    return 0;
}

static int tear_down(void **state)
{
    static const char *const files[] = {"tree/b", "tree/a", "tree/link", "tree/pipe", "program"};

    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        (void)unlink(in_directory(files[i]));
    (void)rmdir(in_directory("tree"));
    return rmdir(directory);
}

static int make_archive(struct pack_archive *a)
{
    int fd = memfd_create("test", MFD_CLOEXEC);

    assert_true(fd >= 0);
    failure = (struct run_failure){0};
    pack_archive_init(a, fd, UINT64_MAX, &failure);
    return fd;
}

/* Compares the archive's names, space-separated, and looks at its bytes through `check`. */
static void check_names(int fd, const char *wanted, void (*check)(const struct cpio_entry *))
{
    struct stat status;
    struct cpio_reader reader;
    struct cpio_entry entry;
    enum cpio_status result;
    char names[1024] = "";
    void *bytes;

    assert_int_equal(fstat(fd, &status), 0);
    bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    assert_true(bytes != MAP_FAILED);
    cpio_init(&reader, bytes, (size_t)status.st_size);
    while ((result = cpio_next(&reader, &entry)) == CPIO_OK) {
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s ", entry.name);
        check(&entry);
    }
    assert_int_equal(result, CPIO_END);
    assert_string_equal(names, wanted);
    munmap(bytes, (size_t)status.st_size);
    close(fd);
}

static void check_tree_entry(const struct cpio_entry *entry)
{
    if (strcmp(entry->name, "at/b") == 0) {
        assert_int_equal(entry->mode, S_IFREG | 0640);
        assert_int_equal(entry->bytes, 5);
        assert_memory_equal(entry->data, "bytes", 5);
    } else if (strcmp(entry->name, "at/link") == 0) {
        assert_true(S_ISLNK(entry->mode));
        assert_memory_equal(entry->data, "b", 1);
    }
    assert_int_equal(entry->uid, 0);
}

static void a_tree_is_sorted_and_without_pipes(void **state)
{
    struct pack_archive a;
    int fd = make_archive(&a);

    (void)state;
    assert_int_equal(pack_archive_add_bytes(&a, "first/file", "x", 1), 0);
    assert_int_equal(pack_archive_add_directory(&a, "/first"), 0);
    assert_int_equal(pack_archive_add_tree(&a, in_directory("tree"), "/at"), 0);
    assert_int_equal(pack_archive_finish(&a), 0);
    check_names(fd, "first/file first at at/a at/b at/link ", check_tree_entry);
}

static void a_root_tree_lies_at_the_root(void **state)
{
    struct pack_archive a;
    int fd = make_archive(&a);

    (void)state;
    assert_int_equal(pack_archive_add_tree(&a, in_directory("tree/"), ""), 0);
    assert_int_equal(pack_archive_finish(&a), 0);
    check_names(fd, "a b link ", check_tree_entry);
}

static void a_name_is_written_once(void **state)
{
    struct pack_archive a;
    int fd = make_archive(&a);

    (void)state;
    assert_int_equal(pack_archive_add_bytes(&a, "/x/y", "1", 1), 0);
    assert_int_equal(pack_archive_add_bytes(&a, "x/y", "2", 1), 0);
    assert_int_equal(pack_archive_add_directory(&a, "/x"), 0);
    assert_int_equal(pack_archive_add_directory(&a, "/"), 0);
    assert_int_equal(pack_archive_finish(&a), 0);
    check_names(fd, "x/y x ", check_tree_entry);
}

static void a_missing_file_is_named(void **state)
{
    struct pack_archive a;
    int fd = make_archive(&a);

    (void)state;
    assert_int_equal(pack_archive_add_tree(&a, in_directory("absent"), "/absent"), -1);
    assert_non_null(strstr(failure.text, "absent"));
    pack_archive_free(&a);
    close(fd);
}

/* What a program made of these bytes is refused with. */
static void refused(const void *bytes, size_t count, mode_t mode, int status, const char *words)
{
    char *arguments[2] = {NULL, NULL};
    struct options o = {.program = arguments, .program_count = 1};
    struct pack_program program;

    write_file("program", bytes, count, mode);
    arguments[0] = strdup(in_directory("program"));
    failure = (struct run_failure){0};
    assert_int_equal(pack_find_program(&o, &program, &failure), -1);
    assert_int_equal(failure.exit_status, status);
    assert_non_null(strstr(failure.text, words));
    if (program.fd >= 0)
        close(program.fd);
    free(arguments[0]);
}

static void refuses_programs_in_words(void **state)
{
    (void)state;
    refused("", 0, 0755, RUN_EXIT_NOT_EXECUTABLE, "empty");
    refused("text", 4, 0755, RUN_EXIT_NOT_EXECUTABLE, "not an ELF");
    refused("#! /bin/sh -e\n", 14, 0755, RUN_EXIT_NOT_EXECUTABLE, "script for /bin/sh,");
    refused("#!", 2, 0755, RUN_EXIT_NOT_EXECUTABLE, "script for no interpreter");
    refused("\x7f"
            "ELF\x02\x01\x01",
            7, 0755, RUN_EXIT_NOT_EXECUTABLE, "truncated");
}

static void refuses_what_is_not_there(void **state)
{
    static const struct {
        const char *name;
        int status;
    } bad[] = {
        {"", RUN_EXIT_NOT_FOUND},
        {"no-such-program-anywhere", RUN_EXIT_NOT_FOUND},
        {"/no/such/file", RUN_EXIT_NOT_FOUND},
        {"/tmp", RUN_EXIT_NOT_EXECUTABLE},
        {"/dev/null", RUN_EXIT_NOT_EXECUTABLE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char name[64];
        char *arguments[2] = {name, NULL};
        struct options o = {.program = arguments, .program_count = 1};
        struct pack_program program;

        snprintf(name, sizeof name, "%s", bad[i].name);
        failure = (struct run_failure){0};
        assert_int_equal(pack_find_program(&o, &program, &failure), -1);
        assert_int_equal(failure.exit_status, bad[i].status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_is_sorted_and_without_pipes),
        cmocka_unit_test(a_root_tree_lies_at_the_root),
        cmocka_unit_test(a_name_is_written_once),
        cmocka_unit_test(a_missing_file_is_named),
        cmocka_unit_test(refuses_programs_in_words),
        cmocka_unit_test(refuses_what_is_not_there),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
