/* The end of the kernel: back to whoever booted it, with boot_info.result filled. */
#ifndef GUEST_TRANSPORT_LEAVE_H
#define GUEST_TRANSPORT_LEAVE_H

#include <stddef.h>
#include <stdint.h>

/* CPU 0, when nothing more is to be sent; enum boot_end. */
void leave_done(uint32_t end) __attribute__((noreturn));

/* Text of boot_info.result.report; what does not fit is left out. */
void leave_report(const char *text, size_t bytes);

/* A panic, whose report is complete: any CPU, in any state, interrupts off.  CPU 0 leaves. */
void leave_panic(void) __attribute__((noreturn));

/* What another CPU does that panics, too: its own report would be mixed with the first. */
void leave_wait(void) __attribute__((noreturn));

/* CPU 0, in its NMI handler: leaves if another CPU asked for it. */
void leave_if_asked(void);

#endif
