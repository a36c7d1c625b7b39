/* A sweep while its traces are added up, and the tables that are written of it. */
#pragma once

#include <pthread.h>

#include "host/base/progress_bar.h"
#include "host/export/sqlite/database.h"
#include "host/sweep/database/sweep_functions.h"
#include "host/sweep/database/sweep_merge.h"
#include "host/sweep/database/sweep_read.h"

#define SWEEP_NOTE_BYTES 200

struct merged_run {
    bool read;
    bool exact;
    double instructions;
    uint64_t duration_ns;
    char note[SWEEP_NOTE_BYTES]; /* why it does not agree with the others; "": it does */
};

struct merged_event { /* the axis is the one after the last of the plan */
    double *series; /* sums over the runs, for each part; owned */
    double *values; /* the totals of its runs; owned */
    size_t runs;
    uint8_t source; /* enum hr_source */
};

struct merge {
    const struct sweep *sweep;
    size_t bins;
    char cpu[80]; /* of the first run */
    double width; /* instructions of a part */
    char machine[SWEEP_MACHINE_BYTES]; /* of the first run */
    struct merged_run *runs; /* one for each job; owned */
    struct merged_event *events; /* owned */
    double *times; /* ns of each part, sums over all runs; owned */
    size_t time_runs;
    struct sweep_functions *functions;
    struct database db;
    sqlite3_stmt *put_count;
    sqlite3_stmt *put_phase;
    /* Workers read a trace each, and add it when all jobs before it are added: the sums are the
     * same whatever their number. */
    pthread_mutex_t lock;
    pthread_cond_t turned;
    size_t next; /* job to read */
    size_t turn; /* job to add */
    int error; /* the first one */
    struct progress_bar bar;
};

/* Events of the plan, and the axis. */
static inline size_t sweep_event_total(const struct merge *m)
{
    return m->sweep->plan.event_count + 1;
}

static inline uint32_t sweep_axis(const struct merge *m)
{
    return (uint32_t)m->sweep->plan.event_count;
}

/* Makes the tables. */
void sweep_store_begin(struct merge *m);

/* Writes what a run counted in regions and between marks; numbers[i] is the sweep's number of its
 * event i. */
void sweep_store_phases(struct merge *m, size_t run, const struct sweep_trace *trace,
                        const struct sweep_profile *profile, const uint32_t *numbers);

/* Compares the runs with each other, and writes all but the tables counts and phases. */
void sweep_store(struct merge *m, struct sweep_result *result);
