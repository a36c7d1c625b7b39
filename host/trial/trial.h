/* One run of a program by `hr run`, for commands that repeat and compare runs.  Never prints. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "host/base/run_failure.h"

struct trial { /* what is run; the owner of each list keeps it */
    char **options; /* of hr run */
    size_t option_count;
    char *events; /* for -e; NULL: those of hr run, or of the options */
    char **program; /* with its arguments */
    size_t program_count;
};

struct trial_output { /* what a program wrote; equal outputs compare equal */
    uint64_t bytes;
    uint32_t crc32c;
};

/* Reads it from a file.  Returns 0 or -errno. */
int trial_output_read(const char *path, struct trial_output *output);

struct trial_files { /* where a run writes */
    const char *trace; /* removed first */
    const char *output; /* the program's standard output */
    const char *errors; /* what hr run and the program write to standard error */
};

/* Runs `hr run -q -o TRACE OPTIONS [-e EVENTS] -- PROGRAM` as a child (host/run/run_child.h) and
 * waits for its end.  Returns its exit status, with `output` filled, or -1 with the failure filled.
 */
int trial_run(const struct trial *trial, const struct trial_files *files,
              struct trial_output *output, struct run_failure *failure);
