/* Tests of host/object/symbols_file.c: which file serves a map, and which are refused. */
#include "host/object/symbols_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/host/tree.h"
#include "tests/unit/test.h"

struct fixture {
    struct tree tree;
    char self[PATH_MAX];
    char path[PATH_MAX]; /* of the map */
    struct trace_map map; /* of this program */
    struct symbols_options options;
};

static int setup(void **state)
{
    static struct fixture f;
    const void *build_id;
    ssize_t bytes;
    Elf *elf;
    int fd;

    memset(&f, 0, sizeof f);
    tree_init(&f.tree);
    bytes = readlink("/proc/self/exe", f.self, sizeof f.self - 1);
    assert_true(bytes > 0);
    strcpy(f.path, f.self);
    f.map.path = f.path;
    fd = open(f.self, O_RDONLY);
    elf_version(EV_CURRENT);
    elf = elf_begin(fd, ELF_C_READ, NULL);
    bytes = dwelf_elf_gnu_build_id(elf, &build_id);
    assert_int_equal(bytes, 20);
    memcpy(f.map.build_id, build_id, 20);
    f.map.meta.build_id_bytes = 20;
    elf_end(elf);
    close(fd);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    tree_free(&f->tree);
    return 0;
}

static void expect(struct fixture *f, bool program, int status, const char *path)
{
    struct symbols_file file;

    assert_int_equal(symbols_file_open(&file, &f->map, program, &f->options), status);
    if (status != 0) {
        assert_int_equal(file.fd, -1);
        assert_null(file.path);
        return;
    }
    assert_true(fcntl(file.fd, F_GETFD) >= 0);
    assert_string_equal(file.path, path);
    symbols_file_close(&file);
}

static void recorded_path_is_taken(void **state)
{
    struct fixture *f = *state;

    expect(f, true, 0, f->self);
    expect(f, false, 0, f->self);
    f->map.meta.build_id_bytes = 0; /* none to compare */
    expect(f, false, 0, f->self);
}

static void other_build_id_is_refused(void **state)
{
    struct fixture *f = *state;

    f->map.build_id[19] ^= 1;
    expect(f, true, -ESTALE, NULL);
    f->map.build_id[19] ^= 1;
    f->map.meta.build_id_bytes = 19;
    expect(f, true, -ESTALE, NULL);
}

/* --program is for the program alone, and is no suggestion. */
static void program_is_replaced(void **state)
{
    struct fixture *f = *state;

    strcpy(f->path, "/nonexistent/program");
    expect(f, true, -ENOENT, NULL);
    f->options.program = f->self;
    expect(f, true, 0, f->self);
    expect(f, false, -ENOENT, NULL);
    strcpy(f->path, f->self);
    f->options.program = "/nonexistent/program";
    expect(f, true, -ENOENT, NULL);
}

static void debug_folder_has_the_file(void **state)
{
    struct fixture *f = *state;
    char name[64] = "", path[256];
    int used = snprintf(name, sizeof name, ".build-id/%02x/", f->map.build_id[0]);

    for (int i = 1; i < 20; i++)
        used += sprintf(name + used, "%02x", f->map.build_id[i]);
    tree_put(&f->tree, name, "");
    snprintf(path, sizeof path, "%s/%s", f->tree.root, name);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink(f->self, path), 0);
    f->options.debug_dirs[0] = "/nonexistent";
    f->options.debug_dirs[1] = f->tree.root;
    f->options.debug_dir_count = 2;
    strcpy(f->path, "/nonexistent/library");
    expect(f, false, 0, path);
    strcpy(f->path, "/bin/sh"); /* another file by now */
    expect(f, false, 0, path);
    f->map.meta.build_id_bytes = 2;
    expect(f, false, -ESTALE, NULL);
    strcpy(f->path, "/nonexistent/library");
    f->map.meta.build_id_bytes = 20;
    f->options.debug_dirs[1] = "/nonexistent";
    expect(f, false, -ENOENT, NULL);
}

/* A program's data, folders, and what would block or never end. */
static void other_files_are_refused(void **state)
{
    static const char *const paths[] = {"/dev/zero", "/tmp", "/etc/passwd", "/proc/self/maps",
                                        "/proc/kcore"};
    struct fixture *f = *state;
    struct symbols_file file;

    f->map.meta.build_id_bytes = 0;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        strcpy(f->path, paths[i]);
        assert_int_not_equal(symbols_file_open(&file, &f->map, false, NULL), 0);
    }
    snprintf(f->path, sizeof f->path, "%s/fifo", f->tree.root);
    assert_int_equal(mkfifo(f->path, 0600), 0);
    expect(f, false, -ENOEXEC, NULL);
    strcpy(f->path, "/etc/passwd/none");
    expect(f, false, -ENOENT, NULL);
}

/* The kernel's recorded path may be no path; then nothing beside the reader is wrong either. */
static void kernel_is_not_taken_from_the_working_directory(void **state)
{
    struct fixture *f = *state;

    f->map.meta.flags = HR_MAP_KERNEL;
    strcpy(f->path, "guest-that-is-nowhere.elf");
    expect(f, false, -ENOENT, NULL);
    strcpy(f->path, strrchr(f->self, '/') + 1); /* beside this program: itself */
    expect(f, false, 0, f->self);
}

static void program_is_the_first_file(void **state)
{
    char kernel[] = "/k", none[] = "", stack[] = "[stack]", program[] = "/p", library[] = "/l";
    struct trace_map maps[] = {{.path = kernel, .meta.flags = HR_MAP_KERNEL},
                               {.path = none},
                               {.path = stack},
                               {.path = program},
                               {.path = library}};
    struct trace_info info = {.maps = maps, .map_count = 5};

    (void)state;
    assert_string_equal(symbols_file_program(&info), "/p");
    assert_false(symbols_file_named(&maps[1]));
    assert_false(symbols_file_named(&maps[2]));
    assert_true(symbols_file_named(&maps[4]));
    info.map_count = 3;
    assert_null(symbols_file_program(&info));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(recorded_path_is_taken, setup, teardown),
        cmocka_unit_test_setup_teardown(other_build_id_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(program_is_replaced, setup, teardown),
        cmocka_unit_test_setup_teardown(debug_folder_has_the_file, setup, teardown),
        cmocka_unit_test_setup_teardown(other_files_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(kernel_is_not_taken_from_the_working_directory, setup,
                                        teardown),
        cmocka_unit_test(program_is_the_first_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
