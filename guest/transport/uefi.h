/* The way back to the firmware, on machines that UEFI booted: boot/uefi_entry.S,
 * guest/transport/uefi.c. */
#pragma once

#include <stdint.h>

/* Restores what the kernel changed of the boot CPU and returns `end` from uefi_entry to the loader.
 * Called after cpu_stop_others, with boot_info.result filled.  Context: CPU 0, with BOOT_ENTRY_UEFI
 * only; any stack and address space, also in the handler of an NMI or exception. */
void uefi_leave(uint32_t end) __attribute__((noreturn));

/* Saves the firmware's settings of the boot CPU's local APIC.  Called after apic_init, before
 * apic_enable. */
void uefi_keep_apic(void);

/* uefi_leave's part in C, on a stack of its own.  Context: interrupts off. */
void uefi_restore(void);
