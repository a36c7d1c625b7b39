/* Results of a sweep's sticks, in a folder: those that hr usb --collect took off a stick
 * (NNN/result.conf), or those that hr collect received (MACHINE/NAME-NUMBER-N).  They come from
 * outside: a result only says which job it is for, and the trace is checked.
 */
#pragma once

#include <limits.h>

#include "host/sweep/folder/sweep_folder.h"

struct sweep_result_place {
    char path[PATH_MAX]; /* of the folder with hr.bin and stdout */
    uint64_t number; /* host/sweep/runs/sweep_stick.h */
    char machine[REMOTE_HOST_BYTES];
    char reason[200]; /* why it is not whole, or how the run ended; "": nothing is said */
};

struct sweep_results {
    struct sweep_result_place *places; /* in order of their numbers; owned */
    size_t count;
    size_t others; /* results that are none of this sweep */
};

/* Adds the results of a folder.  Returns 0, or -1 with the failure filled. */
int sweep_results_find(struct sweep_results *results, const struct sweep *sweep, const char *folder,
                       struct run_failure *failure);
void sweep_results_free(struct sweep_results *results);
