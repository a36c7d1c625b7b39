/* The archive of a run: what is in it, in which order, under which names; and programs refused. */
#include "tests/unit/test.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/pack/archive/pack_archive.h"
#include "host/pack/list/pack_list.h"
#include "host/pack/pack.h"
#include "host/pack/program/pack_program.h"
#include "lib/program/cpio.h"

static char directory[] = "/tmp/test_pack.XXXXXX";
static struct run_failure failure;
static const char large[5000] = "large";

#define MANIFEST "microtome/manifest "
#define END " microtome "

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
    assert_int_equal(symlink("tree", in_directory("to-tree")), 0);
    write_file("tree/large", large, sizeof large, 0600);
    return 0;
}

static int tear_down(void **state)
{
    static const char *const files[] = {"tree/b",     "tree/a",  "tree/link", "tree/pipe",
                                        "tree/large", "to-tree", "program"};

    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        (void)unlink(in_directory(files[i]));
    (void)rmdir(in_directory("tree"));
    return rmdir(directory);
}

/* Writes what was listed behind a manifest "m", and forgets the list. */
static int write_archive(struct pack_list *list)
{
    int fd = memfd_create("test", MFD_CLOEXEC);
    struct pack pack = {.list = *list};

    assert_true(fd >= 0);
    failure = (struct run_failure){0};
    assert_int_equal(pack_archive_write(&pack, "m", 1, fd, &failure), 0);
    pack_list_free(list);
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
        if (entry.bytes >= 4096)
            assert_int_equal((entry.data - (const uint8_t *)bytes) % 4096, 0);
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
    struct pack_list list = {0};
    char bad[PATH_MAX];

    (void)state;
    assert_int_equal(pack_list_add_directory(&list, "/at", 0755), 0);
    assert_int_equal(pack_list_add_tree(&list, in_directory("tree"), "at", NULL, bad), 0);
    check_names(write_archive(&list), MANIFEST "at at/a at/b at/large at/link" END,
                check_tree_entry);
}

static void a_root_tree_lies_at_the_root(void **state)
{
    struct pack_list list = {0};

    (void)state;
    assert_int_equal(pack_list_add_tree(&list, in_directory("tree/"), "", NULL, NULL), 0);
    check_names(write_archive(&list), MANIFEST "a b large link" END, check_tree_entry);
}

/* Returns the bytes of an archive with this table; the table follows everything else. */
static off_t bytes_with_probes(void *table, size_t bytes)
{
    struct pack pack = {.probes = table, .probe_bytes = bytes};
    int fd = memfd_create("test", MFD_CLOEXEC);
    struct stat status;

    failure = (struct run_failure){0};
    assert_int_equal(pack_archive_write(&pack, "m", 1, fd, &failure), 0);
    assert_int_equal(fstat(fd, &status), 0);
    close(fd);
    return status.st_size;
}

static void a_table_of_probes_adds_whole_blocks(void **state)
{
    static uint8_t table[5 << 20];
    off_t without = bytes_with_probes(NULL, 0);

    (void)state;
    assert_int_equal(bytes_with_probes(table, 3), without + (4 << 20));
    assert_int_equal(bytes_with_probes(table, sizeof table), without + (8 << 20));
}

static void a_name_is_listed_once(void **state)
{
    struct pack_list list = {0};

    (void)state;
    assert_int_equal(pack_list_add_directory(&list, "/x/y", 0755), 0);
    assert_int_equal(pack_list_add_directory(&list, "x//y/", 0755), 0);
    assert_int_equal(pack_list_add_directory(&list, "/", 0755), 0);
    assert_int_equal(list.count, 2);
    check_names(write_archive(&list), MANIFEST "x x/y" END, check_tree_entry);
}

static void a_missing_file_is_named(void **state)
{
    struct pack_list list = {0};
    char bad[PATH_MAX] = "";

    (void)state;
    assert_int_equal(pack_list_add_tree(&list, in_directory("absent"), "absent", NULL, bad),
                     -ENOENT);
    assert_string_equal(bad, in_directory("absent"));
    assert_int_equal(pack_list_add_path(&list, in_directory("tree/absent"), NULL), -ENOENT);
    assert_int_equal(pack_list_add_path(&list, in_directory("tree/b/c"), NULL), -ENOTDIR);
    assert_int_equal(pack_list_add_path(&list, in_directory("tree/pipe"), NULL), -ENODEV);
    pack_list_free(&list);
}

/* A link is listed, and so is what it leads to. */
static void links_are_followed(void **state)
{
    struct pack_list list = {0};
    char path[PATH_MAX];
    char name[PATH_MAX];

    (void)state;
    snprintf(path, sizeof path, "%s", in_directory("to-tree/link"));
    assert_int_equal(pack_list_add_path(&list, path, name), 0);
    assert_string_equal(name, in_directory("tree/b") + 1);
    assert_string_equal(pack_list_find(&list, path)->name, name);
    assert_int_equal(list.bytes, 5);
    pack_list_free(&list);
}

/* Where --root has a directory and the host a link, files go into the directory. */
static void what_is_listed_first_stays(void **state)
{
    struct pack_list list = {0};
    char name[PATH_MAX];

    (void)state;
    assert_int_equal(pack_list_add_directory(&list, in_directory("to-tree"), 0755), 0);
    assert_int_equal(pack_list_add_path(&list, in_directory("to-tree/b"), name), 0);
    assert_string_equal(name, in_directory("to-tree/b") + 1);
    pack_list_free(&list);
}

static void a_tree_that_is_too_large_is_left_out(void **state)
{
    const struct pack_tree_rules few = {.bytes_max = 1 << 20, .files_max = 2};
    const struct pack_tree_rules small = {.bytes_max = 6, .files_max = 100};
    static const char *const except[] = {"l*", NULL};
    const struct pack_tree_rules some = {.except = except, .bytes_max = 5, .files_max = 2};
    struct pack_list list = {0};

    (void)state;
    assert_int_equal(pack_list_add_tree(&list, in_directory("tree"), "", &few, NULL), -EFBIG);
    assert_int_equal(pack_list_add_tree(&list, in_directory("tree"), "", &small, NULL), -EFBIG);
    assert_int_equal(list.count, 0);
    assert_int_equal(list.bytes, 0);
    assert_int_equal(pack_list_add_tree(&list, in_directory("tree"), "", &some, NULL), 0);
    assert_int_equal(list.count, 2);
    pack_list_free(&list);
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
    assert_int_equal(pack_program_find(&o, &program, &failure), -1);
    assert_int_equal(failure.exit_status, status);
    assert_non_null(strstr(failure.text, words));
    pack_program_free(&program);
    free(arguments[0]);
}

static void refuses_programs_in_words(void **state)
{
    (void)state;
    refused("", 0, 0755, RUN_EXIT_NOT_EXECUTABLE, "empty");
    refused("text", 4, 0755, RUN_EXIT_NOT_EXECUTABLE, "not an ELF");
    refused("#!", 2, 0755, RUN_EXIT_NOT_EXECUTABLE, "names no interpreter");
    refused("#!/no/such/program\n", 19, 0755, RUN_EXIT_NOT_FOUND, "/no/such/program");
    refused("#!/usr/bin/env -i sh\n", 21, 0755, RUN_EXIT_NOT_EXECUTABLE, "-i sh");
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
        assert_int_equal(pack_program_find(&o, &program, &failure), -1);
        assert_int_equal(failure.exit_status, bad[i].status);
        pack_program_free(&program);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_is_sorted_and_without_pipes),
        cmocka_unit_test(a_root_tree_lies_at_the_root),
        cmocka_unit_test(a_table_of_probes_adds_whole_blocks),
        cmocka_unit_test(a_name_is_listed_once),
        cmocka_unit_test(a_missing_file_is_named),
        cmocka_unit_test(links_are_followed),
        cmocka_unit_test(what_is_listed_first_stays),
        cmocka_unit_test(a_tree_that_is_too_large_is_left_out),
        cmocka_unit_test(refuses_programs_in_words),
        cmocka_unit_test(refuses_what_is_not_there),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
