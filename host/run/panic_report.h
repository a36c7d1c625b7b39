/* Makes a kernel panic readable: adds function, offset and source line to the kernel's addresses.
 */
#ifndef HOST_RUN_PANIC_REPORT_H
#define HOST_RUN_PANIC_REPORT_H

#include <stdbool.h>
#include <stdio.h>

/* True when a line of `text` is one of a panic's. */
bool panic_report_is_in(const char *text);

/* Prints the panic's lines of `text` (the end of it when none says "panic"), each kernel address
 * followed by its symbol as `kernel` (guest.elf) has it.
 */
void panic_report_print(FILE *out, const char *text, const char *kernel);

#endif
