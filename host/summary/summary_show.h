/* Shows a summary where it goes: on a terminal lines fit, and what matters has a colour.  Elsewhere
 * it is as summary_print writes it.
 */
#ifndef HOST_SUMMARY_SUMMARY_SHOW_H
#define HOST_SUMMARY_SUMMARY_SHOW_H

#include "host/summary/summary.h"

/* `out` is standard output or standard error. */
void summary_show(FILE *out, const struct summary *summary);

/* Prints a summary's lines on a terminal of so many columns.  For tests. */
void summary_fit(FILE *out, const char *text, unsigned int columns, bool colours);

#endif
