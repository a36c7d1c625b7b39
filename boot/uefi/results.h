/* What a run leaves on the stick: \results\NNN (docs/bare-metal.md, "Files on the stick").
 *
 * result.conf and log.txt get their room before everything else, so that a full stick costs data
 * but never the word about it; result.conf is complete last: without it a result is not.
 */
#ifndef BOOT_UEFI_RESULTS_H
#define BOOT_UEFI_RESULTS_H

#include "boot/uefi/frames.h"
#include "boot/uefi/outcome.h"
#include "boot/uefi/volume.h"

struct results_run {
    const char *run, *archive, *machine, *started; /* texts of result.conf */
    uint32_t repetition;
    uint64_t elapsed_ns;
    const struct outcome *outcome;
    const struct frames *frames;
    bool log_only; /* its streams went another way */
    const char *report; /* of the kernel, as it is; may be NULL */
    size_t report_bytes;
    void (*written)(uint64_t bytes); /* is called now and then */
};

/* Makes \results; false: nothing can be written there, and why. */
bool results_init(uint64_t part_bytes, char why[VOLUME_WHY_BYTES]);

/* Writes a result; what fails is said, and in the log.  False: nothing of it is kept, or a part is
 * missing.  *bytes: what was written. */
bool results_write(const struct results_run *run, uint64_t *bytes);

#endif
