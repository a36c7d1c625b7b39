/* The table of points that the kernel places (include/run_probes.h), while it is made.
 *
 * Functions that return int return 0, or -1 with the failure filled.  Only probe_table_print
 * prints.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "host/base/run_failure.h"
#include "host/probe/probe_code.h"
#include "host/probe/probe_file.h"
#include "include/hr_format.h"

struct probe_function {
    uint64_t address;
    uint64_t bytes;
    const struct probe_file *file;
    const char *spec; /* what asked for it */
    char *name; /* owned */
    enum hr_probe_kind kind;
    bool loops; /* HR_PROBE_LOOPS */
    bool named; /* asked for by its own name */
    bool dropped; /* shares instructions with another one */
    bool allocates; /* HR_PROBE_ALLOCATES */
    size_t into; /* number + 1 of the function that has its entry, too; 0: none */
};

struct probe_point {
    const struct probe_file *file;
    uint64_t address;
    struct run_probe_point point;
};

struct probe_table {
    struct probe_function *functions; /* owned */
    size_t function_count;
    struct probe_point *points; /* owned */
    size_t point_count;
};

void probe_table_free(struct probe_table *t);

/* Adds a function, of which a copy is kept, with its name cut to name_bytes. */
int probe_table_add(struct probe_table *t, const struct probe_function *function, const char *name,
                    int name_bytes, struct run_failure *failure);

/* Adds a point to the function that was added last. */
int probe_table_add_point(struct probe_table *t, const struct probe_code_point *point,
                          struct run_failure *failure);

/* Sorts and numbers the points, and drops functions that share instructions with earlier ones:
 * *dropped is how many, without those that were found twice. */
int probe_table_settle(struct probe_table *t, size_t *dropped, struct run_failure *failure);

/* Stores the file in *bytes, which the caller frees. */
int probe_table_write(const struct probe_table *t, uint32_t argument_count, uint32_t every,
                      uint8_t **bytes, size_t *byte_count, struct run_failure *failure);

/* Prints how many functions and points each object has and, if they are few or `all`, each point.
 */
void probe_table_print(const struct probe_table *t, bool all, FILE *out);
