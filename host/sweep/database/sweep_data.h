/* What the database of a sweep says, in memory, for those who show it.  Never prints. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/base/run_failure.h"
#include "host/sweep/folder/sweep_folder.h"
#include "host/trial/trial_statistics.h"

struct sweep_measured { /* an event */
    char *name; /* owned, as are all texts here */
    char *description;
    char *source;
    struct trial_spread spread; /* count 0: it was not measured */
    double *series; /* data->bins values; owned */
};

struct sweep_note { /* a run that does not agree, or failed */
    char *trace;
    char *text;
};

struct sweep_data {
    char *program;
    char *processor;
    char *cpu; /* as events_cpu_parse takes it; NULL: not known */
    uint64_t repeat;
    uint64_t planned_runs;
    uint64_t least_runs;
    uint64_t runs; /* that were measured */
    struct sweep_measured *events; /* the axis is the last one */
    size_t event_count;
    size_t bins;
    double *times; /* ns of each part */
    double *starts; /* its first instruction */
    struct sweep_note *notes;
    size_t note_count;
    struct sweep_note *machines; /* other machines: in place of a trace processor and Linux; their
                                    names with numbers of runs */
    size_t machine_count;
};

/* Reads FOLDER/sweep.db.  Returns 0, or -1 with the failure filled and nothing to free. */
int sweep_data_load(struct sweep_data *data, const char *folder, struct run_failure *failure);
void sweep_data_free(struct sweep_data *data);

/* Returns the event of that name, case ignored; NULL: there is none. */
const struct sweep_measured *sweep_data_find(const struct sweep_data *data, const char *name);

/* Returns how many parts are whole: the last ones may be beyond the end of the runs, or cut by it.
 */
size_t sweep_whole_parts(const struct sweep_data *data);

/* Returns whether two events counted alike everywhere: they are one event in other words. */
bool sweep_data_alike(const struct sweep_measured *a, const struct sweep_measured *b, size_t parts);

/* Returns whether the event was measured and ever counted. */
static inline bool sweep_data_counted(const struct sweep_measured *event)
{
    return event->spread.count != 0 && event->spread.mean != 0;
}
