/* A suite: the benchmarks that a file (microtome.toml) describes; docs/ci.md.  Never prints. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/base/run_failure.h"
#include "host/suite/suite_limit.h"

#define SUITE_FILE_DEFAULT "microtome.toml"
#define SUITE_BENCHMARKS_MAX 1000u
#define SUITE_TIMEOUT_DEFAULT "10m"
#define SUITE_PATH_BYTES 4200
#define SUITE_REPEAT_MAX 1000u /* of a benchmark */
#define SUITE_REPEAT_HARDWARE 10u /* where runs vary */

struct suite_texts { /* a list; owned */
    char **list;
    size_t count;
};

struct suite_benchmark {
    char *name; /* owned, as all below */
    struct suite_texts command; /* with its arguments */
    struct suite_texts options; /* of hr run */
    struct suite_texts tags;
    char *input; /* file for standard input; NULL: empty */
    char *directory; /* where it runs, relative to the suite's file; NULL: there */
    int exit_status; /* that is right */
    uint32_t repeat; /* runs; 0: one in virtual time, else SUITE_REPEAT_HARDWARE */
    uint32_t warm_up; /* runs before them that do not count */
    struct suite_limits limits;
};

struct suite {
    char *name; /* for reports; owned */
    char folder[SUITE_PATH_BYTES]; /* of the file */
    struct suite_benchmark *benchmarks; /* owned */
    size_t benchmark_count;
};

/* Reads a file.  Returns 0, or -1 with the failure filled: file, line, what, and the nearest key
 * that there is.  To be freed in any case. */
int suite_read(struct suite *suite, const char *path, struct run_failure *failure);

/* As suite_read, of a text; `path` is for messages. */
int suite_parse(struct suite *suite, const char *path, const char *bytes, size_t count,
                struct run_failure *failure);
void suite_free(struct suite *suite);

/* Whether a text can name a benchmark or a baseline: also a file's name, a git ref's and a link's.
 */
#define SUITE_NAME_BYTES 64u
bool suite_is_name(const char *text);

void suite_texts_free(struct suite_texts *texts);
bool suite_texts_have(const struct suite_texts *texts, const char *text);
