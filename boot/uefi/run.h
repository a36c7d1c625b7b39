/* One run: memory, archive, the kernel, results. */
#pragma once

#include "boot/uefi/batch.h"
#include "boot/uefi/outcome.h"
#include "boot/uefi/table.h"

struct run {
    uint32_t number; /* in the batch, from 1 */
    uint32_t index; /* in batch.conf.runs */
    uint32_t repetition; /* from 1 */
    uint64_t elapsed_ns; /* time spent in the kernel */
    char started[FIRMWARE_TIME_BYTES];
    struct outcome outcome;
    struct table_row row;
    bool kept; /* its results are complete, as far as the loader knows */
};

/* Finds the run with this number in the batch, and its row of the table. */
void run_find(struct run *run, uint32_t number);

/* Performs the run.  Allocates and frees archive and memory, unless they are already there
 * (firmware = exit).  Every error ends up in run->outcome. */
void run_perform(struct run *run);
