/* Tests of host/object/object_cache.c and host/base/cache.c: what is kept and found again, what is
 * refused of a directory that anything may be in, and that the oldest go.
 */
#include "host/object/object_cache.h"

#include <dirent.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/base/cache.h"
#include "host/object/symbols_file.h"
#include "tests/unit/host/tree.h"
#include "tests/unit/test.h"

struct fixture {
    struct tree tree;
    char self[PATH_MAX];
    char kept[PATH_MAX]; /* where the copy of this program is */
    char missing[32];
    struct trace_map map; /* of this program, at a path where nothing is */
};

static int setup(void **state)
{
    static struct fixture f;
    const void *build_id;
    int used, fd;
    Elf *elf;

    memset(&f, 0, sizeof f);
    tree_init(&f.tree);
    assert_int_equal(setenv("XDG_CACHE_HOME", f.tree.root, 1), 0);
    assert_true(readlink("/proc/self/exe", f.self, sizeof f.self - 1) > 0);
    strcpy(f.missing, "/nonexistent/program");
    f.map.path = f.missing;
    fd = open(f.self, O_RDONLY);
    elf_version(EV_CURRENT);
    elf = elf_begin(fd, ELF_C_READ, NULL);
    assert_int_equal(dwelf_elf_gnu_build_id(elf, &build_id), 20);
    memcpy(f.map.build_id, build_id, 20);
    f.map.meta.build_id_bytes = 20;
    elf_end(elf);
    close(fd);
    used = snprintf(f.kept, sizeof f.kept, "%s/microtome/object-", f.tree.root);
    for (int i = 0; i < 20; i++)
        used += sprintf(f.kept + used, "%02x", f.map.build_id[i]);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    tree_free(&f->tree);
    return 0;
}

static void keep(const char *path)
{
    struct object_cache cache;

    object_cache_begin(&cache);
    object_cache_keep(&cache, path);
    object_cache_end(&cache);
}

static size_t count(const struct fixture *f)
{
    char path[PATH_MAX];
    size_t files = 0;
    DIR *directory;

    snprintf(path, sizeof path, "%s/microtome", f->tree.root);
    directory = opendir(path);
    assert_non_null(directory);
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;)
        files += entry->d_name[0] != '.';
    closedir(directory);
    return files;
}

static void expect(struct fixture *f, int status)
{
    const struct symbols_options options = {.no_debuginfod = true};
    struct symbols_file file;

    assert_int_equal(symbols_file_open(&file, &f->map, true, &options), status);
    if (status == 0)
        assert_string_equal(file.path, f->kept);
    symbols_file_close(&file);
}

static void kept_file_serves(void **state)
{
    struct fixture *f = *state;

    expect(f, -ENOENT);
    keep(f->self);
    expect(f, 0);
    f->map.path = "/bin/sh"; /* another program by now */
    expect(f, 0);
    f->map.build_id[19] ^= 1;
    expect(f, -ESTALE);
    f->map.path = f->missing;
    f->map.meta.build_id_bytes = 0; /* nothing to find it by */
    expect(f, -ENOENT);
    f->map.meta.build_id_bytes = 2;
    expect(f, -ENOENT);
}

/* Once; and again when it is of another size: damaged, or stripped since. */
static void file_is_copied_once(void **state)
{
    struct fixture *f = *state;
    struct stat first, second;

    keep(f->self);
    assert_int_equal(stat(f->kept, &first), 0);
    assert_int_equal(first.st_mode & 07777, 0600);
    keep(f->self);
    assert_int_equal(stat(f->kept, &second), 0);
    assert_true(first.st_ino == second.st_ino);
    assert_int_equal(truncate(f->kept, first.st_size - 1), 0);
    keep(f->self);
    assert_int_equal(stat(f->kept, &second), 0);
    assert_true(second.st_size == first.st_size);
    assert_int_equal(count(f), 1);
}

static void put_file(const char *from, const char *to)
{
    char command[2 * PATH_MAX + 16];

    snprintf(command, sizeof command, "cp '%s' '%s'", from, to);
    assert_int_equal(system(command), 0);
}

static void others_are_not_kept(void **state)
{
    struct fixture *f = *state;
    char path[PATH_MAX];

    tree_put(&f->tree, "text", "\177EL");
    tree_put(&f->tree, "short", "\177ELF");
    tree_put(&f->tree, "empty", "");
    for (size_t i = 0; i < 3; i++) {
        static const char *const names[] = {"text", "short", "empty"};

        snprintf(path, sizeof path, "%s/%s", f->tree.root, names[i]);
        keep(path);
    }
    keep("/tmp");
    keep("/dev/zero");
    keep(f->missing);
    assert_int_equal(count(f), 0);
    snprintf(path, sizeof path, "%s/large", f->tree.root);
    put_file(f->self, path);
    assert_int_equal(truncate(path, (off_t)OBJECT_CACHE_FILE_BYTES_MAX + 1), 0); /* sparse */
    keep(path);
    assert_int_equal(count(f), 0);
}

static void system_is_not_wanted(void **state)
{
    (void)state;
    assert_false(object_cache_wants("/usr/bin/x"));
    assert_false(object_cache_wants("/lib64/ld.so"));
    assert_true(object_cache_wants("/usr/local/bin/x"));
    assert_true(object_cache_wants("/library/x"));
    assert_true(object_cache_wants("/home/usr/bin/x"));
}

/* Truncated, a link, a pipe, text, another program by that name: as if nothing was there. */
static void hostile_files_are_ignored(void **state)
{
    struct fixture *f = *state;
    struct stat status;

    keep(f->self);
    assert_int_equal(stat(f->kept, &status), 0);
    for (int i = 1; i <= 4; i++) {
        assert_int_equal(truncate(f->kept, i == 4 ? 0 : status.st_size / (1 << i)), 0);
        expect(f, -ENOENT);
    }
    assert_int_equal(unlink(f->kept), 0);
    assert_int_equal(symlink(f->self, f->kept), 0);
    expect(f, -ENOENT);
    keep(f->self); /* the link is replaced, and what it led to is left alone */
    expect(f, 0);
    assert_int_equal(stat(f->self, &status), 0);
    assert_true(status.st_size > 0);
    assert_int_equal(unlink(f->kept), 0);
    assert_int_equal(mkfifo(f->kept, 0600), 0);
    expect(f, -ENOENT);
    assert_int_equal(unlink(f->kept), 0);
    put_file("/bin/true", f->kept);
    expect(f, -ENOENT);
    assert_int_equal(unlink(f->kept), 0);
    assert_int_equal(mkdir(f->kept, 0700), 0);
    keep(f->self);
    expect(f, -ENOENT);
    assert_int_equal(rmdir(f->kept), 0);
}

static void directory_of_others_is_not_used(void **state)
{
    struct fixture *f = *state;
    char path[PATH_MAX];

    keep(f->self);
    snprintf(path, sizeof path, "%s/microtome", f->tree.root);
    assert_int_equal(chmod(path, 0777), 0);
    expect(f, -ENOENT);
    assert_int_equal(unlink(f->kept), 0);
    keep(f->self);
    assert_int_equal(count(f), 0);
    assert_int_equal(rmdir(path), 0);
    tree_put(&f->tree, "microtome", "");
    keep(f->self);
    expect(f, -ENOENT);
    assert_int_equal(setenv("XDG_CACHE_HOME", "/proc/nonexistent", 1), 0);
    keep(f->self);
    expect(f, -ENOENT);
}

static void writers_do_not_meet(void **state)
{
    struct fixture *f = *state;
    int status;

    for (int i = 0; i < 8; i++)
        if (fork() == 0) {
            for (int n = 0; n < 5; n++) {
                keep(f->self);
                if (n % 2 == 0 && truncate(f->kept, 100) != 0)
                    _exit(1);
            }
            _exit(0);
        }
    while (wait(&status) > 0)
        assert_int_equal(status, 0);
    keep(f->self);
    expect(f, 0);
    assert_int_equal(count(f), 1);
}

/* Four files of 8 KiB, the first the oldest, and one of another kind. */
static void oldest_go(void **state)
{
    static const char *const names[] = {"object-d", "object-c", "object-b", "object-a", "part-a"};
    struct fixture *f = *state;
    char path[PATH_MAX], name[64], text[8193];
    int directory = cache_open(true, path);

    assert_true(directory >= 0);
    memset(text, 'x', 8192);
    text[8192] = 0;
    for (int i = 0; i < 5; i++) {
        const struct timespec times[2] = {{.tv_sec = 1000 + i}, {.tv_sec = 1000 + i}};

        snprintf(name, sizeof name, "microtome/%s", names[i]);
        tree_put(&f->tree, name, text);
        assert_int_equal(utimensat(directory, names[i], times, 0), 0);
    }
    cache_evict(directory, "object-", "", 4 * 8192);
    assert_int_equal(count(f), 5);
    cache_evict(directory, "object-", "object-d", 3 * 8192);
    assert_int_equal(faccessat(directory, "object-d", F_OK, 0), 0);
    assert_int_equal(faccessat(directory, "object-c", F_OK, 0), -1);
    cache_evict(directory, "object-", "", 8192);
    assert_int_equal(faccessat(directory, "object-a", F_OK, 0), 0);
    assert_int_equal(faccessat(directory, "part-a", F_OK, 0), 0);
    assert_int_equal(count(f), 2);
    close(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(kept_file_serves, setup, teardown),
        cmocka_unit_test_setup_teardown(file_is_copied_once, setup, teardown),
        cmocka_unit_test_setup_teardown(others_are_not_kept, setup, teardown),
        cmocka_unit_test(system_is_not_wanted),
        cmocka_unit_test_setup_teardown(hostile_files_are_ignored, setup, teardown),
        cmocka_unit_test_setup_teardown(directory_of_others_is_not_used, setup, teardown),
        cmocka_unit_test_setup_teardown(writers_do_not_meet, setup, teardown),
        cmocka_unit_test_setup_teardown(oldest_go, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
