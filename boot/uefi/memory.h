/* The memory that runs get from the firmware.  For the whole batch: the kernel's place, the page
 * that other CPUs start in, boot_info.  For each run anew: RAM and BUFFER.
 */
#ifndef BOOT_UEFI_MEMORY_H
#define BOOT_UEFI_MEMORY_H

#include "boot/uefi/plan.h"
#include "lib/boot_conf.h"

#define MEMORY_WHY_BYTES 240

struct memory {
    uint64_t kernel; /* a multiple of 2 MiB below 4 GiB */
    uint64_t trampoline; /* a page below 1 MiB, not the first */
    struct boot_info *info; /* below 4 GiB */
    struct plan plan; /* of the run; its ranges are allocated */
};

/* False: `why` says what is missing, with numbers. */
bool memory_init(struct memory *memory, uint64_t kernel_bytes, char why[MEMORY_WHY_BYTES]);
bool memory_take(struct memory *memory, const struct boot_conf *conf, char why[MEMORY_WHY_BYTES]);

/* Gives a run's ranges of one kind back. */
void memory_free(struct memory *memory, enum boot_memory_kind kind);

#endif
