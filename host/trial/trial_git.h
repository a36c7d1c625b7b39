/* Calls of git, for revisions that are compared and for baselines.  Never prints. */
#pragma once

#include <stddef.h>

#include "host/base/run_failure.h"

#define TRIAL_GIT_ERROR_BYTES 300

struct trial_git { /* a call */
    const char *arguments[16]; /* after "git", NULL-terminated */
    const char *input; /* NULL: none */
    char *output; /* with a zero at its end; owned by the caller */
    size_t output_bytes;
    char error[TRIAL_GIT_ERROR_BYTES]; /* its first line */
};

/* Runs it in the current directory.  Returns git's exit status, or -1 with the failure filled; the
 * output is to be freed in any case. */
int trial_git(struct trial_git *call, struct run_failure *failure);

/* As trial_git, but a status other than 0 is a failure, too: returns 0 or -1.  With a `line`, its
 * first line is kept there in place of the output. */
int trial_git_line(struct trial_git *call, char *line, size_t room, struct run_failure *failure);
