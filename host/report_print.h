/* Prints a sorted profile as a table.  For host/report.c. */
#ifndef HOST_REPORT_PRINT_H
#define HOST_REPORT_PRINT_H

#include <stdio.h>

#include "host/profile.h"
#include "host/trace_scan.h"

/* event is what the profile is sorted by, -1 for samples; limit 0 prints every row. */
void report_print(FILE *out, const struct trace_scan *scan, const struct profile *profile,
                  int event, unsigned long limit);

#endif
