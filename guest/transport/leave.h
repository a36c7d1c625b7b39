/* The end of the kernel: returns to the loader that booted it, with boot_info.result filled. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Leaves with this enum boot_end.  Called on CPU 0 when nothing more is to be sent. */
void leave_done(uint32_t end) __attribute__((noreturn));

/* Ends a panic whose report is complete; `first`: no other CPU panicked before.  On a machine that
 * UEFI booted, CPU 0 leaves.  Context: any CPU, in any state, interrupts off. */
void leave_panic(bool first) __attribute__((noreturn));

/* Leaves if another CPU asked for it.  Context: CPU 0, in its NMI handler. */
void leave_if_asked(void);
