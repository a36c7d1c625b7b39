/* Memory from the firmware.  For the whole batch: the kernel's place, the page that other CPUs
 * start in, boot_info.  For each run: RAM and BUFFER.
 */
#pragma once

#include "boot/uefi/plan.h"
#include "lib/boot/boot_conf.h"

#define MEMORY_WHY_BYTES 240

struct memory {
    uint64_t kernel; /* a multiple of 2 MiB below 4 GiB */
    uint64_t trampoline; /* a page below 1 MiB, not the first */
    struct boot_info *info; /* below 4 GiB */
    struct plan plan; /* plan of the run; its ranges are allocated */
};

/* Return false if memory is missing; `why` then says what, with numbers. */
bool memory_init(struct memory *memory, uint64_t kernel_bytes, char why[MEMORY_WHY_BYTES]);
bool memory_take(struct memory *memory, const struct boot_conf *conf, char why[MEMORY_WHY_BYTES]);

/* Frees a run's ranges of one kind. */
void memory_free(struct memory *memory, enum boot_memory_kind kind);
