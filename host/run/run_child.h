/* Runs `hr run` as a child, for commands that measure. */
#pragma once

#include <stddef.h>

#include "host/base/run_failure.h"

#define RUN_CHILD_REASON_BYTES 300

struct run_child_place { /* where a child runs */
    const char *directory; /* NULL: that of hr; other paths are relative to it */
    const char *input; /* its standard input; NULL: /dev/null */
};

/* Runs this hr with `arguments` (argv, NULL-terminated), its stdout and stderr written to files; a
 * NULL file is /dev/null.  A signal that ends hr is passed on, and the child ends when hr ends, in
 * any way.  Returns the exit status, or -1 with the failure filled. */
int run_child(char **arguments, const char *output, const char *errors,
              struct run_failure *failure);

/* As run_child, in a place.  `output` and `errors` are relative to hr's own directory. */
int run_child_in(const struct run_child_place *place, char **arguments, const char *output,
                 const char *errors, struct run_failure *failure);

/* Likewise runs a command by `sh -c`, as a shell gives its status: 128 + N after signal N.  The
 * signal is for all processes that it started, unless they made a group of their own. */
int run_child_shell(const struct run_child_place *place, const char *text, const char *output,
                    const char *errors, struct run_failure *failure);

/* Appends an option with its value to `arguments`, unless that is NULL. */
void run_child_option(char **arguments, size_t *count, const char *option, const char *value);

/* Makes a new folder for the files of such children, microtome-NAME.XXXXXX where temporary files
 * are. Returns 0, or -1 with the failure filled and the path empty. */
#define RUN_CHILD_FOLDER_BYTES 256
int run_child_folder(char path[RUN_CHILD_FOLDER_BYTES], const char *name,
                     struct run_failure *failure);

/* Reads the first line that the child wrote to stderr, escaped for a terminal.  Returns `reason`.
 */
const char *run_child_reason(const char *errors, char reason[RUN_CHILD_REASON_BYTES]);
