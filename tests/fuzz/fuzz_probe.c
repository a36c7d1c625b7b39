/* Fuzzes what finds probes: any file gives a table that keeps its bounds, or a failure. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/probe/probe.h"
#include "tests/fuzz/fuzz.h"

static int find_none(void *context, const char *name, char path[PATH_MAX], char place[PATH_MAX],
                     struct run_failure *failure)
{
    (void)context;
    (void)path;
    (void)place;
    return run_fail(failure, "no object %s", name);
}

static void check(const struct probe_table *table)
{
    struct run_failure failure = {0};
    uint8_t *bytes;
    size_t count;

    for (size_t i = 0; i < table->point_count; i++) {
        const struct run_probe_point *point = &table->points[i].point;

        fuzz_check(point->function < table->function_count);
        fuzz_check(point->bytes >= 1 && point->bytes <= RUN_PROBE_CODE_BYTES);
        fuzz_check(point->displacement_at + 4u <= RUN_PROBE_CODE_BYTES);
        fuzz_check(i == 0 || point->file_offset > table->points[i - 1].point.file_offset);
    }
    fuzz_check(probe_table_write(table, 0, 0, &bytes, &count, &failure) == 0);
    free(bytes);
}

static void find(const char *path, const char *spec)
{
    const struct probe_object object = {.path = path, .place = path};
    const struct probe_wish wish = {
        .specs = &spec, .spec_count = 1, .objects = &object, .object_count = 1, .find = find_none};
    struct run_failure failure = {0};
    struct probe probe;

    if (probe_find(&probe, &wish, &failure) == 0)
        check(&probe.table);
    else
        fuzz_check(failure.text[0] != 0);
    probe_free(&probe);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const specs[] = {"@all",   "*",        "main",         "demo::work",
                                        "0x1010", "main+0x1", "program.cc:3", "missing"};
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    char path[64];

    fuzz_check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++)
        find(path, specs[i]);
    close(fd);
    return 0;
}
