/* The end of the machine, with registers and a stack trace on the serial port. */
#ifndef GUEST_PANIC_H
#define GUEST_PANIC_H

#include "guest/cpu.h"

/* As panic(), with the registers of the frame and the stack from there. */
void panic_frame(const struct trap_frame *frame, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

/* Test builds: panics in the way that the manifest's panic-test names, or does nothing. */
void panic_test(const char *where);

#endif
