/* Times commands, as `hr run` runs them, by several runs of each: hr bench. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/bench/bench_words.h"
#include "host/trial/trial_options.h"
#include "host/trial/trial_statistics.h"
#include "host/trial/trial_totals.h"

#define BENCH_JOBS_MAX 1000u
#define BENCH_REPEAT_MAX 1000u
#define BENCH_REPEAT_HARDWARE 10u /* at least, where runs vary ... */
#define BENCH_NS_HARDWARE 3000000000ull /* ... and for so long */

struct bench_run {
    uint64_t duration_ns;
    uint64_t totals[HR_EVENTS_MAX];
    int status;
};

struct bench_job { /* a command with the values of its parameters */
    char **words; /* owned */
    size_t word_count;
    char *text; /* of the command, for people; raw; owned */
    size_t combination; /* of the parameters */
    struct bench_run *runs; /* owned */
    uint32_t run_count;
    struct trial_totals first; /* of the first run: names of events; exact */
    struct trial_spread time; /* ns; of bench_finish, as all below */
    struct trial_spread events[HR_EVENTS_MAX];
    uint64_t least_ns, most_ns;
};

struct bench {
    struct bench_parameters parameters;
    struct trial_options options;
    char *events; /* NULL: those of hr run */
    const char *prepare; /* for sh -c, before each run; NULL: none, as all below */
    const char *setup; /* before the first run of a command */
    const char *cleanup; /* after its last run */
    uint64_t repeat; /* 0: 1 in virtual time, else as long as it takes */
    uint64_t warm_up;
    bool ignore_failure;
    bool quiet;
    struct bench_job *jobs; /* owned */
    size_t job_count;
};

/* Performs the runs of all jobs.  Returns 0, or -1 with the failure filled; what was done before is
 * there.  The figures of jobs with a run are filled in any case. */
int bench_measure(struct bench *bench, struct run_failure *failure);
void bench_free(struct bench *bench);

/* Returns the job that takes the least time; NULL: none has a run. */
const struct bench_job *bench_fastest(const struct bench *bench);
