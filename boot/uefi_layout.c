/* Provides the offsets of boot_info's fields to boot/uefi_entry.S. */
#include "boot/uefi_layout.h"

#include <stddef.h>

#include "include/boot_info.h"

const struct uefi_layout uefi_layout = {
    .kernel_physical = offsetof(struct boot_info, kernel_physical),
    .end = offsetof(struct boot_info, result.end),
    .report_bytes = offsetof(struct boot_info, result.report_bytes),
    .report = offsetof(struct boot_info, result.report),
    .refused = BOOT_END_PANIC,
};
