/* One run of a program by `hr run`, for commands that repeat and compare runs.  Never prints. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/base/progress.h"
#include "host/run/run_child.h"

struct trial { /* what is run; the owner of each list keeps it */
    char **options; /* of hr run */
    size_t option_count;
    char *events; /* for -e; NULL: those of hr run, or of the options */
    char **program; /* with its arguments */
    size_t program_count;
    struct run_child_place place; /* with a directory, the trace's path must be absolute */
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

/* Removes what a run wrote, where it is. */
void trial_remove(const struct trial_files *files);

struct trial_folder { /* a temporary folder with the files of one run at a time */
    char path[RUN_CHILD_FOLDER_BYTES]; /* empty: there is none */
    char trace[RUN_CHILD_FOLDER_BYTES + 16];
    char output[RUN_CHILD_FOLDER_BYTES + 16];
    char errors[RUN_CHILD_FOLDER_BYTES + 16];
};

/* Makes it, by run_child_folder.  Returns 0, or -1 with the failure filled. */
int trial_folder_make(struct trial_folder *folder, const char *name, struct run_failure *failure);

/* Removes it with its files, if it is there. */
void trial_folder_remove(const struct trial_folder *folder);

/* Whether two runs wrote the same. */
static inline bool trial_same_output(const struct trial_output *a, const struct trial_output *b)
{
    return a->bytes == b->bytes && a->crc32c == b->crc32c;
}

/* Puts the numbers 0 to count - 1 into a random order that depends on the state alone: in which
 * order several programs run once each.  Drawn for each repetition, no program always runs first,
 * or on a warm machine. */
void trial_order(uint32_t *order, uint32_t count, uint64_t *state);

/* Shows "3 of 20 runs, 12 s left" on the line of progress; `start_ns`: when the first one began. */
void trial_show(struct progress *line, size_t done, size_t count, uint64_t start_ns);
