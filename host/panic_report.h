/* Makes a kernel panic readable: adds function, offset and source line to the kernel's addresses.
 */
#ifndef HOST_PANIC_REPORT_H
#define HOST_PANIC_REPORT_H

#include <stdio.h>

/* Prints the panic's lines of `text` (the end of it when none says "panic"), each kernel address
 * followed by its symbol as `kernel` (guest.elf) has it.
 */
void panic_report_print(FILE *out, const char *text, const char *kernel);

#endif
