/* Numbers that boot/uefi_entry.S needs from C: offsets in boot_info, and a value of enum boot_end.
 */
#pragma once

#include <stdint.h>

extern const struct uefi_layout {
    uint32_t kernel_physical;
    uint32_t end;
    uint32_t report_bytes;
    uint32_t report;
    uint32_t refused;
} uefi_layout;
