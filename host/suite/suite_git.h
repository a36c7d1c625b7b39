/* Baselines as git refs: a commit whose tree has results.json, its parent the one before.  Git's
 * plumbing does it all, so that no file of a work tree and no index is touched.  Never prints. */
#pragma once

#include "host/suite/suite_result.h"

/* As the functions of suite_baseline.h. */
int suite_git_save(const char *name, const struct suite_results *results,
                   struct run_failure *failure);
int suite_git_read(const char *name, struct suite_results *results, struct run_failure *failure);
int suite_git_prune(const char *name, struct run_failure *failure);
int suite_git_list(struct suite_texts *names, struct run_failure *failure);

/* Whether there is a repository here that has a baseline of that name. */
bool suite_git_has(const char *name);
