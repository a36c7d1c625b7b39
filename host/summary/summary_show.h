/* Prints a summary for a terminal: lines fit, and important figures have a colour.  If `out` is not
 * a terminal, it prints as summary_print. */
#pragma once

#include "host/summary/summary.h"

/* `out` is standard output or standard error. */
void summary_show(FILE *out, const struct summary *summary);

/* Likewise for the terminal of a file descriptor, which is not written to. */
void summary_show_for(FILE *out, const struct summary *summary, int terminal);
