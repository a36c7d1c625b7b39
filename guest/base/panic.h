/* The end of the machine, with registers and a stack trace on the serial port. */
#ifndef GUEST_BASE_PANIC_H
#define GUEST_BASE_PANIC_H

#include <stdbool.h>
#include <stddef.h>

#include "guest/base/frame.h"

/* As panic(), with the registers of the frame and the stack from there. */
void panic_frame(const struct trap_frame *frame, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

/* Text of boot_info.result.report; what does not fit is left out. */
void panic_report(const char *text, size_t bytes);

/* What ends a panic when its report is complete, of the first CPU or of another one that panics,
 * too; set at boot. */
extern void (*panic_leave)(bool first) __attribute__((noreturn));

/* At "boot", before anything else; at each of RUN_STEPS as it begins; at "start" and "end" of the
 * program, on its CPU; at "leave", when boot_info.result is filled.  Test builds panic in the way
 * that the manifest's panic-test names, send every CPU an NMI, try the network card, or have output
 * go into memory, and note what the emulator's free-running counters say; others do nothing. */
void test_hook(const char *where);

#endif
