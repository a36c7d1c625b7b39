/* hr doctor --measure: the cost of sampling on this machine, by runs of a loop of known length.
 *
 * Each run is a separate `hr run`.  The cost of a sample is the result of the guest's calibration,
 * read from the trace; the loop shows whether instructions are counted exactly.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "host/base/run_failure.h"
#include "host/run/run_child.h"
#include "host/summary/summary.h"
#include "include/hr_format.h"

#define MEASURE_RUNS_MAX 16
#define MEASURE_LOOP 10000000u /* iterations of two instructions */
#define MEASURE_INSTRUCTIONS (2ull * MEASURE_LOOP + 4) /* executed by the whole program */
#define MEASURE_PERIOD 400000u /* for overflow sampling: 50 samples */
#define MEASURE_REASON_BYTES RUN_CHILD_REASON_BYTES

struct measure_options { /* options of `hr run`; NULL: the default */
    const char *accel;
    const char *qemu;
    const char *cpu;
    const char *pin;
};

struct measure_run {
    enum hr_mode mode; /* HR_MODE_OFF: the loop without samples */
    unsigned int events;
    char left_out[MEASURE_REASON_BYTES]; /* why the run was skipped; "": it was not */
    uint64_t sample_ns; /* the whole cost of a sample; 0: unknown */
    uint64_t late_ns; /* in timer mode */
    uint64_t rdpmc_ns; /* 0: no RDPMC */
    bool rdpmc_trapped;
    bool counts; /* the first event counted instructions */
    uint64_t counted; /* total count of the first event */
    bool skid_known; /* in overflow mode */
    double skid; /* mean number of instructions from an overflow to its sample */
};

struct measure {
    bool emulated;
    bool virtual_time;
    bool has_pmu; /* the counters belong to hardware or to a model of it */
    unsigned int run_count;
    struct measure_run runs[MEASURE_RUNS_MAX];
};

/* Measures and prints, as JSON if wanted.  Returns the exit status. */
int doctor_measure(const struct measure_options *options, bool json);

/* doctor_measure_run.c: the runs. */

struct measure_place { /* a directory for the loop and its traces */
    char directory[RUN_CHILD_FOLDER_BYTES]; /* empty: there is none */
    char program[300];
    char trace[300];
    char errors[300]; /* stderr of hr run */
};

/* Returns 0, or -1 with the failure filled; call doctor_measure_place_remove in either case. */
int doctor_measure_place_make(struct measure_place *place, struct run_failure *failure);
void doctor_measure_place_remove(const struct measure_place *place);

/* Runs the loop once and reads its trace; the caller frees the summary.  Returns 0, 1 if the guest
 * cannot count that many events (`reason` says why), or -1 with the failure filled. */
int doctor_measure_loop(const struct measure_place *place, const struct measure_options *options,
                        enum hr_mode mode, unsigned int events, struct summary *summary,
                        char reason[MEASURE_REASON_BYTES], struct run_failure *failure);

/* doctor_measure_figures.c: conclusions from the runs. */

/* Takes a run's figures from the summary of its trace. */
void doctor_measure_take(struct measure_run *run, const struct summary *summary);

/* Merges a repetition of a run.  Disturbances only add cost, so the lower costs are kept; of the
 * counts, the one that is further from the expected value. */
void doctor_measure_merge(struct measure_run *run, const struct measure_run *again);

/* Returns the shortest interval at which samples of that cost take `percent` of the time. */
uint64_t doctor_measure_interval_ns(uint64_t sample_ns, unsigned int percent);

/* Returns the cost of an exit to the hypervisor, if reading a counter causes one; 0: unknown. */
uint64_t doctor_measure_exit_ns(const struct measure *measure);

/* Returns the completed run of that mode with the most events, or NULL. */
const struct measure_run *doctor_measure_largest(const struct measure *measure, enum hr_mode mode);

struct doctor_measure_exactness {
    bool known; /* there are runs that counted instructions */
    int64_t without; /* counted minus expected, with sampling off */
    int64_t least, most; /* counted minus expected, over the runs with samples */
};
void doctor_measure_exactness(const struct measure *measure,
                              struct doctor_measure_exactness *exactness);

/* doctor_measure_print.c */
void doctor_measure_print_table(FILE *out, const struct measure *measure);
int doctor_measure_print_json(FILE *out, const struct measure *measure); /* returns 0 or -ENOMEM */
