/* The few ACPI tables that Microtome needs: MADT, HPET, FADT, DMAR, MCFG.  ACPI Specification 6.4,
 * chapter 5. Tables are checked (signature, length, checksum) before use; the firmware is not
 * trusted.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define ACPI_CPUS_MAX 1024 /* the kernel uses fewer, and says of what machine */

struct acpi_machine {
    uint64_t local_apic_base; /* physical; FEE00000H when there is no MADT */
    uint32_t cpu_count; /* enabled processors, the boot processor included; at least 1 */
    uint32_t apic_ids[ACPI_CPUS_MAX]; /* in MADT order */
    uint64_t hpet_base; /* physical, 0: none */
    uint16_t pm_timer_port; /* 0: none */
    uint8_t pm_timer_32bit;
    uint64_t pci_config_base; /* physical, 0: none; PCI configuration space as memory, */
    uint8_t pci_config_first, pci_config_last; /* for these buses of segment 0 */
    bool x2apic_opt_out; /* the firmware asks that local APICs stay in xAPIC mode */
};

/* rsdp: physical address from the boot path, or 0 to search the BIOS areas.  Returns 0, or -ENOENT
 * if there are no usable tables (machine then describes one CPU: the calling one). */
int acpi_read(uint64_t rsdp, struct acpi_machine *machine);
