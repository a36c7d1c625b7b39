/* The end of the machine, with registers and a stack trace on the serial port. */
#ifndef GUEST_BASE_PANIC_H
#define GUEST_BASE_PANIC_H

#include "guest/cpu/cpu.h"

/* As panic(), with the registers of the frame and the stack from there. */
void panic_frame(const struct trap_frame *frame, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

/* At "boot", before anything else; at each of RUN_STEPS as it begins; at "start" and "end" of the
 * program, on its CPU; at "leave", when boot_info.result is filled.  Test builds panic in the way
 * that the manifest's panic-test names, send every CPU an NMI, try the network card, or have output
 * go into memory, and note what the emulator's free-running counters say; others do nothing. */
void test_hook(const char *where);

#endif
