/* Makes one database of the traces of a sweep: FOLDER/sweep.db.
 *
 * Tables: facts, events, runs, hosts, counts, series, parts, functions, phases, statistics;
 * docs/sweeps.md describes them.  Runs are joined by instructions: part n of every run is where the
 * program executed the same ones.
 */
#pragma once

#include <stdbool.h>

#include "host/sweep/folder/sweep_folder.h"

#define SWEEP_BINS_DEFAULT 200u
#define SWEEP_BINS_MAX 10000u
#define SWEEP_DATABASE "sweep.db"

struct sweep_result { /* what to tell */
    size_t unread; /* traces that could not be read */
    size_t differ; /* runs that do not agree with the others; the database says why */
};

/* Reads all traces and replaces the database.  Returns 0, or -1 with the failure filled. */
int sweep_merge(const struct sweep *sweep, size_t bins, struct sweep_result *result,
                struct run_failure *failure);
