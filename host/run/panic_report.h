/* Makes a kernel panic readable: adds function, offset and source line to the kernel's addresses.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* Returns true if a line of `text` belongs to a panic. */
bool panic_report_is_in(const char *text);

/* Prints the panic's lines of `text` (its last lines if none says "panic"), and after each kernel
 * address its symbol from `kernel` (guest.elf). */
void panic_report_print(FILE *out, const char *text, const char *kernel);
