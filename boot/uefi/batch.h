/* Performs the runs of a stick, one after another. */
#pragma once

#include "boot/uefi/memory.h"
#include "boot/uefi/volume.h"
#include "lib/boot/kernel_image.h"

struct batch {
    struct boot_conf conf;
    char machine[BOOT_CONF_NAME_BYTES];
    struct volume_file kernel_file;
    struct kernel_image kernel;
    struct memory memory;
    uint64_t rsdp, smbios;
    bool keeps; /* something is written to the stick */
    struct volume_file archives[BOOT_CONF_RUNS_MAX]; /* those that are in memory */
    uint32_t total; /* number of runs, including repetitions */
    uint32_t good; /* runs that ended as planned, with results */
};
extern struct batch batch;

/* Reads microtome.conf, the kernel and what all runs need.  Returns false after reporting an error.
 */
bool batch_prepare(void);
void batch_perform(void);
