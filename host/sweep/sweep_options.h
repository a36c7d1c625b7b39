/* The options of hr sweep when it runs a program. */
#pragma once

#include <stdbool.h>

#include "host/sweep/folder/sweep_folder.h"
#include "host/trial/trial_options.h"

#define SWEEP_FOLDER_DEFAULT "sweep"
#define SWEEP_EVENTS_DEFAULT "all"

struct sweep_options {
    struct sweep *sweep; /* folder, program, options of hr run, repeat, seed */
    struct trial_options passed; /* options of hr run, until the sweep has them */
    char **events; /* lists; owned */
    size_t event_count;
    uint64_t warm_up; /* runs before the others, the first one included */
    uint64_t bins;
    const char *target; /* the processor of a sweep by sticks, or a trace; NULL: not given */
    bool dry_run;
    bool resume;
    bool quiet;
};

/* Parses the command line; a wrong one ends the process.  Returns 0 or -ENOMEM. */
int sweep_options_parse(struct sweep_options *o, int argc, char **argv);
void sweep_options_free(struct sweep_options *o);
