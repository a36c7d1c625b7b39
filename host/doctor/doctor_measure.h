/* hr doctor --measure: what sampling costs on this machine, by runs of a loop of known length.
 *
 * Each run is an `hr run` of its own.  What a sample costs is what the guest's calibration found,
 * read from the trace; the loop tells whether instructions are counted exactly.
 */
#ifndef HOST_DOCTOR_DOCTOR_MEASURE_H
#define HOST_DOCTOR_DOCTOR_MEASURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "host/base/run_failure.h"
#include "host/summary/summary.h"
#include "include/hr_format.h"

#define MEASURE_RUNS_MAX 16
#define MEASURE_LOOP 10000000u /* iterations of two instructions */
#define MEASURE_INSTRUCTIONS (2ull * MEASURE_LOOP + 4) /* of the whole program */
#define MEASURE_PERIOD 400000u /* of overflow sampling: 50 samples */
#define MEASURE_REASON_BYTES 300

struct measure_options { /* as of `hr run`; NULL: its default */
    const char *accel;
    const char *qemu;
    const char *cpu;
    const char *pin;
};

struct measure_run {
    enum hr_mode mode; /* HR_MODE_OFF: the loop without samples */
    unsigned int events;
    char left_out[MEASURE_REASON_BYTES]; /* why there was no such run; "": there was */
    uint64_t sample_ns; /* the whole cost of a sample; 0: unknown */
    uint64_t late_ns; /* timer mode */
    uint64_t rdpmc_ns; /* 0: none */
    bool rdpmc_trapped;
    bool counts; /* the first event counted instructions */
    uint64_t counted; /* of the first event, in all */
    bool skid_known; /* overflow mode */
    double skid; /* instructions after an overflow that its sample contains, mean */
};

struct measure {
    bool emulated;
    bool virtual_time;
    bool has_pmu; /* counters of hardware, or of a model of it */
    unsigned int run_count;
    struct measure_run runs[MEASURE_RUNS_MAX];
};

/* Measures and prints, as JSON if that is wanted; the exit status. */
int doctor_measure(const struct measure_options *options, bool json);

/* doctor_measure_run.c: the runs. */

struct measure_place { /* a directory for the loop and its traces */
    char directory[256]; /* empty: there is none */
    char program[300];
    char trace[300];
    char errors[300]; /* what hr run says */
};

/* 0, or -1 with the failure filled; measure_place_remove is due in either case. */
int measure_place_make(struct measure_place *place, struct run_failure *failure);
void measure_place_remove(const struct measure_place *place);

/* Runs the loop once and reads its trace; the caller frees the summary.  0, 1 when the guest cannot
 * count so many events (`reason` says why), or -1 with the failure filled. */
int measure_loop(const struct measure_place *place, const struct measure_options *options,
                 enum hr_mode mode, unsigned int events, struct summary *summary,
                 char reason[MEASURE_REASON_BYTES], struct run_failure *failure);

/* doctor_measure_figures.c: what follows from the runs. */

/* Takes a run's figures from the summary of its trace. */
void measure_take(struct measure_run *run, const struct summary *summary);

/* The same run once more: what disturbs one makes it dearer, so the cheaper figures stay, and of
 * the counts the one that is farther from right. */
void measure_merge(struct measure_run *run, const struct measure_run *again);

/* The shortest interval at which samples of that cost take `percent` of the time. */
uint64_t measure_interval_ns(uint64_t sample_ns, unsigned int percent);

/* One exit to the hypervisor, where reading a counter is one; 0: that cannot be told. */
uint64_t measure_exit_ns(const struct measure *measure);

/* The run of that mode with the most events that is at hand, NULL: none. */
const struct measure_run *measure_largest(const struct measure *measure, enum hr_mode mode);

struct measure_exactness {
    bool known; /* runs counted instructions */
    int64_t without; /* counted minus expected, sampling off */
    int64_t least, most; /* the same of the runs with samples */
};
void measure_exactness(const struct measure *measure, struct measure_exactness *exactness);

/* doctor_measure_print.c */
void measure_print_table(FILE *out, const struct measure *measure);
int measure_print_json(FILE *out, const struct measure *measure); /* 0, or -ENOMEM */

#endif
