/* The end of the machine, with registers and a stack trace on the serial port. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "guest/base/frame.h"

/* As panic(), but prints the frame's registers and the stack from there. */
void panic_frame(const struct trap_frame *frame, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

/* Adds text to boot_info.result.report; drops what does not fit. */
void panic_report(const char *text, size_t bytes);

/* Ends a panic when its report is complete; set at boot.  `first`: this CPU panicked first. */
extern void (*panic_leave)(bool first) __attribute__((noreturn));

/* Called at "boot", before anything else; at each of RUN_STEPS as it begins; at "start" and "end"
 * of the program, on its CPU; at "leave", when boot_info.result is filled.  In test builds it
 * panics in the way that the manifest's panic-test names, sends every CPU an NMI, tries the network
 * card, or has output go into memory, and notes the emulator's free-running counters.  In other
 * builds it does nothing. */
void test_hook(const char *where);
