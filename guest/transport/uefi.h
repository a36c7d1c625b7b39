/* The way back to the firmware, on machines that UEFI booted: boot/uefi_entry.S,
 * guest/transport/uefi.c. */
#ifndef GUEST_TRANSPORT_UEFI_H
#define GUEST_TRANSPORT_UEFI_H

#include <stdint.h>

/* Puts back what the kernel changed of the boot CPU and returns `end` from uefi_entry, to the
 * loader.  On CPU 0 with BOOT_ENTRY_UEFI only; on any stack, in any address space, from an NMI's or
 * exception's handler too.  boot_info.result is filled and cpu_stop_others was called. */
void uefi_leave(uint32_t end) __attribute__((noreturn));

/* Keeps the firmware's settings of the boot CPU's local APIC: after apic_init, before apic_enable.
 */
void uefi_keep_apic(void);

/* Its part in C: on a stack of its own, interrupts off. */
void uefi_restore(void);

#endif
