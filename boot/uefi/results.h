/* The files of a run on the stick: \results\NNN (docs/bare-metal.md, "Files on the stick").
 *
 * result.conf and log.txt get their room first, so that a full stick loses data but not the report
 * of it.  result.conf is completed last: without it a result is incomplete.
 */
#pragma once

#include "boot/uefi/frames.h"
#include "boot/uefi/outcome.h"
#include "boot/uefi/volume.h"

struct results_run {
    const char *run, *archive, *machine, *started; /* texts of result.conf */
    uint32_t repetition;
    uint64_t elapsed_ns;
    const struct outcome *outcome;
    const struct frames *frames;
    bool log_only; /* its streams were sent elsewhere */
    const char *report; /* unchanged text of the kernel; may be NULL */
    size_t report_bytes;
    void (*written)(uint64_t bytes); /* called from time to time */
};

/* Makes \results.  Returns false if nothing can be written there; `why` says why. */
bool results_init(uint64_t part_bytes, char why[VOLUME_WHY_BYTES]);

/* Writes a result; reports failures, also in the log.  Returns false if nothing was kept, or a part
 * is missing.  Stores in *bytes how much was written. */
bool results_write(const struct results_run *run, uint64_t *bytes);
