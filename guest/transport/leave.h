/* The end of the kernel: back to whoever booted it, with boot_info.result filled. */
#ifndef GUEST_TRANSPORT_LEAVE_H
#define GUEST_TRANSPORT_LEAVE_H

#include <stdbool.h>
#include <stdint.h>

/* CPU 0, when nothing more is to be sent; enum boot_end. */
void leave_done(uint32_t end) __attribute__((noreturn));

/* The end of a panic, whose report is complete; of the first one, or of another CPU's.  Any CPU, in
 * any state, interrupts off.  CPU 0 leaves. */
void leave_panic(bool first) __attribute__((noreturn));

/* CPU 0, in its NMI handler: leaves if another CPU asked for it. */
void leave_if_asked(void);

#endif
