/* Values of microtome.toml while it is read (host/suite/suite_file.c).  Functions return 0, or -1
 * with the failure filled. */
#pragma once

#include "host/suite/suite.h"
#include "host/suite/toml.h"

struct suite_reading { /* a benchmark, or the defaults of all */
    const char *path;
    struct run_failure *failure;
    const char *mode; /* the values that replace others; of the file's tree */
    const char *timeout;
    char *events; /* owned */
    const struct toml *files;
    const struct toml *environments[2]; /* the defaults', then its own */
    const struct toml *options;
};

int suite_reading_wrong(const struct suite_reading *r, const struct toml *at, const char *format,
                        ...) __attribute__((format(printf, 3, 4)));
int suite_reading_no_memory(const struct suite_reading *r);
int suite_reading_wrong_kind(const struct suite_reading *r, const struct toml *value,
                             const char *wanted);

/* Takes a string, which is the file's; or a copy, in place of the former one. */
int suite_reading_text(const struct suite_reading *r, const struct toml *value, const char **text);
int suite_reading_keep(const struct suite_reading *r, const struct toml *value, char **kept);

/* Appends a string, or each string of an array. */
int suite_reading_each(const struct suite_reading *r, const struct toml *value, const char *wanted,
                       struct suite_texts *texts);

/* Take the limits of events, `function` NULL: in all; and those of functions. */
int suite_reading_limits(const struct suite_reading *r, const struct toml *table,
                         const char *function, struct suite_limits *limits);
int suite_reading_functions(const struct suite_reading *r, const struct toml *table,
                            struct suite_limits *limits);
