/* A directory for results, hellos, and frames of a run: for tests of what collects runs. */
#ifndef TESTS_UNIT_HOST_STREAM_FIXTURE_H
#define TESTS_UNIT_HOST_STREAM_FIXTURE_H

#include "tests/unit/test.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/collect/stream_run.h"
#include "lib/boot/run_stream.h"

#define LIMIT_BYTES (1u << 20)

static char root[] = "/tmp/test_stream.XXXXXX";

static inline int make_root(void **state)
{
    (void)state;
    return mkdtemp(root) == NULL;
}

static inline int remove_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
    (void)status;
    (void)type;
    (void)at;
    return remove(path);
}

static inline int remove_root(void **state)
{
    (void)state;
    return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline struct run_hello hello_of(const char *machine, const char *run, uint8_t number)
{
    const uint8_t id[16] = {number, 0xff, 0x10};
    struct run_hello hello;

    assert_int_equal(run_stream_hello(&hello, id, NULL, machine, run), 0);
    return hello;
}

/* The run's file has these bytes and no others; bytes NULL: it does not exist. */
static inline void check_bytes(const char *run, const char *name, const void *bytes, size_t count)
{
    char path[256];
    FILE *file;
    uint8_t *got;

    snprintf(path, sizeof path, "%s/%s/%s", root, run, name);
    file = fopen(path, "r");
    if (bytes == NULL) {
        assert_null(file);
        return;
    }
    assert_non_null(file);
    got = malloc(count + 1);
    assert_int_equal(fread(got, 1, count + 1, file), count);
    assert_memory_equal(got, bytes, count);
    free(got);
    fclose(file);
}

#endif
