/* What a boot path hands to the kernel: the only place where PVH and UEFI meet. */
#ifndef INCLUDE_BOOT_INFO_H
#define INCLUDE_BOOT_INFO_H

#include <stdint.h>

#define BOOT_MEMORY_RANGES_MAX 64

enum boot_entry { BOOT_ENTRY_PVH = 1, BOOT_ENTRY_UEFI = 2 };
enum boot_memory_kind { BOOT_MEMORY_RAM = 1, BOOT_MEMORY_RESERVED = 2 };

struct boot_memory_range {
    uint64_t base; /* physical, bytes */
    uint64_t bytes;
    uint32_t kind; /* enum boot_memory_kind */
    uint32_t reserved;
};

struct boot_info {
    uint32_t entry; /* enum boot_entry */
    uint32_t range_count;
    struct boot_memory_range ranges[BOOT_MEMORY_RANGES_MAX];
    uint64_t archive_base; /* physical address of run.cpio; 0 if there is none */
    uint64_t archive_bytes;
    uint64_t rsdp; /* physical address of the ACPI RSDP; 0 if the firmware gave none */
    char command_line[1024]; /* NUL-terminated */
};

/* The kernel (guest/main.c): every boot path ends here, on the boot CPU in long mode, interrupts
 * off, with the kernel and the direct map of the first 4 GiB (include/kernel_layout.h) mapped.
 */
void kernel_main(const struct boot_info *boot) __attribute__((noreturn));

#endif
