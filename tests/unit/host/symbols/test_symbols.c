/* Tests of host/symbols/symbols.c: this program's own functions, a wrong build-id, files of no use.
 */
#include "host/symbols/symbols.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/symbols/symbols_elf.h"
#include "tests/unit/test.h"

/* A function to look up, with a name that nothing else has. */
__attribute__((noinline, used)) static int microtome_symbol_probe(int value)
{
    return value * 3 + 1;
}

struct own { /* this process as a trace's load map would show it */
    struct trace_info info;
    uint64_t probe;
    char path[4096];
};

static void find_own_mapping(struct own *own, struct trace_map *map)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned long long start, end, offset;
    char line[4352], path[4096];

    assert_non_null(maps);
    while (fgets(line, sizeof line, maps) != NULL)
        if (sscanf(line, "%llx-%llx %*s %llx %*s %*s %4095s", &start, &end, &offset, path) == 4 &&
            start <= own->probe && own->probe < end) {
            map->meta.start = start;
            map->meta.end = end;
            map->meta.file_offset = offset;
            strcpy(own->path, path);
        }
    fclose(maps);
    assert_true(map->meta.end != 0);
}

static void setup(struct own *own)
{
    static struct trace_map map;
    const void *build_id;
    ssize_t bytes;
    Elf *elf;
    int fd;

    memset(own, 0, sizeof *own);
    memset(&map, 0, sizeof map);
    own->probe = (uint64_t)(uintptr_t)microtome_symbol_probe;
    find_own_mapping(own, &map);
    fd = open(own->path, O_RDONLY);
    elf_version(EV_CURRENT);
    elf = elf_begin(fd, ELF_C_READ, NULL);
    bytes = dwelf_elf_gnu_build_id(elf, &build_id);
    if (bytes > 0 && bytes <= (ssize_t)sizeof map.build_id) {
        memcpy(map.build_id, build_id, (size_t)bytes);
        map.meta.build_id_bytes = (uint16_t)bytes;
    }
    elf_end(elf);
    close(fd);
    map.path = own->path;
    trace_info_init(&own->info);
    own->info.maps = &map;
    own->info.map_count = 1;
}

static void own_function_is_found(void **state)
{
    struct symbols *symbols;
    struct symbols_place place;
    const char *file;
    struct own own;

    (void)state;
    assert_int_equal(microtome_symbol_probe(2), 7);
    setup(&own);
    assert_int_equal(symbols_open(&symbols, &own.info, NULL), 0);
    assert_null(symbols_problem(symbols, 0, &file));
    assert_true(symbols_find(symbols, own.probe, &place));
    assert_string_equal(place.name, "microtome_symbol_probe");
    assert_int_equal(place.offset, 0);
    assert_int_equal(place.start, own.probe);
    assert_true(symbols_find(symbols, own.probe + 1, &place));
    assert_string_equal(place.name, "microtome_symbol_probe");
    assert_int_equal(place.offset, 1);
    assert_true(place.end > place.start);
    assert_string_equal(place.object, strrchr(own.path, '/') + 1);
    symbols_close(symbols);
}

static void address_outside_has_a_range(void **state)
{
    struct symbols *symbols;
    struct symbols_place place;
    struct own own;

    (void)state;
    setup(&own);
    assert_int_equal(symbols_open(&symbols, &own.info, NULL), 0);
    assert_false(symbols_find(symbols, 0x1234567, &place));
    assert_null(place.name);
    assert_null(place.object);
    assert_int_equal(place.start, 0x1234000);
    assert_int_equal(place.end, 0x1235000);
    assert_int_equal(place.offset, 0x567);
    symbols_close(symbols);
}

static void other_build_id_is_refused(void **state)
{
    struct symbols *symbols;
    struct symbols_place place;
    const char *file, *problem;
    struct own own;

    (void)state;
    setup(&own);
    own.info.maps[0].meta.build_id_bytes = 20;
    own.info.maps[0].build_id[3] ^= 1;
    assert_int_equal(symbols_open(&symbols, &own.info, NULL), 0);
    assert_null(symbols_problem(symbols, 0, &file)); /* of no interest so far */
    assert_true(symbols_find(symbols, own.probe, &place)); /* the map is known, the name is not */
    problem = symbols_problem(symbols, 0, &file);
    assert_non_null(problem);
    assert_non_null(strstr(problem, "build-id"));
    assert_string_equal(file, own.path);
    assert_null(symbols_problem(symbols, 1, &file));
    assert_null(place.name);
    symbols_close(symbols);
}

static void program_path_replaces_the_recorded_one(void **state)
{
    char moved[] = "/nonexistent/program";
    struct symbols *symbols;
    struct symbols_place place;
    const char *file;
    struct own own;

    (void)state;
    setup(&own);
    own.info.maps[0].path = moved;
    assert_int_equal(symbols_open(&symbols, &own.info, NULL), 0);
    assert_true(symbols_find(symbols, own.probe, &place));
    assert_non_null(strstr(symbols_problem(symbols, 0, &file), "not found"));
    symbols_close(symbols);
    assert_int_equal(
        symbols_open(&symbols, &own.info, &(struct symbols_options){.program = own.path}), 0);
    assert_true(symbols_find(symbols, own.probe, &place));
    assert_string_equal(place.name, "microtome_symbol_probe");
    symbols_close(symbols);
}

static uint64_t linked_probe(struct own *own)
{
    struct symbols_options options = {0};
    struct symbols_file file;
    struct symbols_elf elf;
    uint64_t address = 0;

    assert_int_equal(symbols_file_open(&file, &own->info.maps[0], false, NULL), 0);
    assert_int_equal(symbols_elf_open(&elf, &file, &options), 0);
    for (size_t i = 0; i < elf.function_count; i++)
        if (strcmp(elf.functions[i].raw, "microtome_symbol_probe") == 0)
            address = elf.functions[i].start;
    symbols_elf_close(&elf);
    symbols_file_close(&file);
    return address;
}

/* The kernel's code is where it was linked, whatever the map says of the file's offsets. */
static void kernel_code_is_known_as_such(void **state)
{
    struct symbols *symbols;
    struct symbols_place place;
    struct own own;
    uint64_t probe;

    (void)state;
    setup(&own);
    probe = linked_probe(&own);
    own.info.maps[0].meta.flags = HR_MAP_KERNEL;
    own.info.maps[0].meta.file_offset = 0;
    own.info.maps[0].meta.start = probe & ~0xfffull;
    own.info.maps[0].meta.end = own.info.maps[0].meta.start + 0x2000;
    assert_int_equal(symbols_open(&symbols, &own.info, NULL), 0);
    assert_true(symbols_find(symbols, probe + 1, &place));
    assert_true(place.kernel);
    assert_string_equal(place.name, "microtome_symbol_probe");
    assert_int_equal(place.start, probe);
    assert_false(symbols_find(symbols, 0x1234567, &place));
    assert_false(place.kernel);
    assert_false(symbols_find(symbols, 0xffffffff81234567, &place));
    assert_true(place.kernel);
    symbols_close(symbols);
}

/* A trace without a sample in the kernel does not need the kernel's file. */
static void kernel_is_missed_only_where_it_is_needed(void **state)
{
    char gone[] = "/nonexistent/guest.elf";
    struct symbols *symbols;
    struct symbols_place place;
    const char *file;
    struct own own;

    (void)state;
    setup(&own);
    own.info.maps[0].path = gone;
    own.info.maps[0].meta.flags = HR_MAP_KERNEL;
    assert_int_equal(
        symbols_open(&symbols, &own.info, &(struct symbols_options){.program = own.path}), 0);
    assert_false(symbols_find(symbols, 0x1234567, &place));
    assert_null(symbols_problem(symbols, 0, &file));
    assert_true(symbols_find(symbols, own.probe, &place));
    assert_null(place.name);
    assert_non_null(strstr(symbols_problem(symbols, 0, &file), "kernel"));
    symbols_close(symbols);
}

/* Files that a hostile or stale trace may name. */
static void useless_files_are_problems(void **state)
{
    static const char *const paths[] = {"/dev/zero", "/tmp", "/etc/passwd", "/proc/self/maps"};
    struct symbols *symbols;
    struct symbols_place place;
    const char *file;
    struct own own;
    char path[64];

    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        setup(&own);
        strcpy(path, paths[i]);
        own.info.maps[0].path = path;
        assert_int_equal(symbols_open(&symbols, &own.info, NULL), 0);
        symbols_find(symbols, own.probe, &place);
        assert_null(place.name);
        assert_non_null(symbols_problem(symbols, 0, &file));
        symbols_close(symbols);
    }
}

/* A copy of this program with random bytes changed must not lead outside memory (ASan). */
static void damaged_elf_is_survived(void **state)
{
    struct test_random random = {7};
    char path[] = "/tmp/microtome-elf-XXXXXX";
    struct symbols *symbols;
    struct symbols_place place;
    struct own own;
    char command[4300];
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    for (int round = 0; round < 20; round++) {
        setup(&own);
        snprintf(command, sizeof command, "cp %s %s", own.path, path);
        assert_int_equal(system(command), 0);
        for (int n = 0; n < 200; n++) {
            uint64_t value = test_random_next(&random);
            off_t bytes = lseek(fd, 0, SEEK_END);
            off_t at = n < 100 ? (off_t)(value % 1024) : bytes - 1 - (off_t)(value % 60000);

            if (n >= 10 || at > 16)
                assert_int_equal(pwrite(fd, &value, 1, at > 16 ? at : 40), 1);
        }
        own.info.maps[0].path = path;
        own.info.maps[0].meta.build_id_bytes = 0;
        assert_int_equal(symbols_open(&symbols, &own.info, NULL), 0);
        symbols_find(symbols, own.probe, &place);
        symbols_close(symbols);
    }
    close(fd);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_function_is_found),
        cmocka_unit_test(address_outside_has_a_range),
        cmocka_unit_test(other_build_id_is_refused),
        cmocka_unit_test(program_path_replaces_the_recorded_one),
        cmocka_unit_test(kernel_code_is_known_as_such),
        cmocka_unit_test(kernel_is_missed_only_where_it_is_needed),
        cmocka_unit_test(useless_files_are_problems),
        cmocka_unit_test(damaged_elf_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
