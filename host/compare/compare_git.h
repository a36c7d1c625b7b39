/* Two revisions of a git repository, built each in a worktree of its own. */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "host/base/run_failure.h"

struct compare_git {
    const char *revisions[2];
    const char *build; /* a command for sh -c; NULL: nothing is built */
    char folder[256]; /* holds the worktrees, whose paths are of equal length; "": none yet */
    char places[2][PATH_MAX]; /* where the build and the program run: the worktree's folder that
                                 answers to the current one */
    bool made[2];
};

/* Makes the worktrees and builds in them.  Returns 0, or -1 with the failure filled;
 * compare_git_remove after either. */
int compare_git_make(struct compare_git *git, struct run_failure *failure);
void compare_git_remove(struct compare_git *git);
