/* The runs of a suite on other machines: jobs and what comes back (host/remote/remote.h). */
#pragma once

#include "host/suite/suite_runs.h"

#define SUITE_JOBS_FILE "jobs.csv" /* a line for each run that was taken: NAME+NUMBER,MACHINE */

struct suite_job {
    struct remote_job remote; /* at first */
    const struct suite_benchmark *benchmark;
    struct suite_outcome *outcome;
    uint32_t number; /* of the run, from 1 */
    bool done;
    struct suite_outcome run; /* what it counted */
    char problem[SUITE_PROBLEM_BYTES]; /* of its last failure */
};

struct suite_remote {
    struct remote remote; /* at first */
    const struct suite *suite;
    const struct suite_selection *selection;
    struct remote_machines machines;
    struct suite_job **jobs; /* owned, as each */
    size_t count;
};

extern const struct remote_owner suite_remote_owner;

/* Writes the places of a job's files. */
void suite_remote_places(const struct suite_remote *r, const struct suite_job *job,
                         struct suite_places *places);

/* Takes a run of an earlier command, if it is there.  False: it is not. */
bool suite_remote_restore(struct suite_remote *r, struct suite_job *job);
