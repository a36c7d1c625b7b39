/* Baselines: results that are kept by a name, as DIR/NAME.json or in a git repository.  Never
 * prints. */
#pragma once

#include "host/suite/suite_result.h"

#define SUITE_BASELINES_DEFAULT "microtome-baselines"
#define SUITE_BASELINE_REF "refs/microtome/baselines/"

struct suite_store {
    const char *folder;
    bool git; /* the repository of the current directory, not the folder */
};

/* Keep, read and remove a baseline.  Return 0, or -1 with the failure filled. */
int suite_baseline_save(const struct suite_store *store, const char *name,
                        const struct suite_results *results, struct run_failure *failure);
int suite_baseline_read(const struct suite_store *store, const char *name,
                        struct suite_results *results, struct run_failure *failure);
int suite_baseline_prune(const struct suite_store *store, const char *name,
                         struct run_failure *failure);

/* Appends the names of all, sorted.  Returns 0, or -1 with the failure filled. */
int suite_baseline_list(const struct suite_store *store, struct suite_texts *names,
                        struct run_failure *failure);

/* Reads results of a file or folder of that name, else the baseline of the folder, else that of
 * git.  Returns 0, or -1 with the failure filled. */
int suite_baseline_find(const char *folder, const char *name, struct suite_results *results,
                        struct run_failure *failure);
