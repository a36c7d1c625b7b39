/* The summary's lines about sampling itself.  For host/summary/summary_print.c. */
#pragma once

#include <stdio.h>

#include "host/summary/summary.h"

#define SUMMARY_ROW "%20s  %-20s" /* a quantity and its name; words follow */

/* Prints what triggered samples, how regularly, how many were lost, and their cost. */
void summary_print_sampling(FILE *out, const struct summary *summary);

/* Prints a warning with a remedy if sampling took more than a tenth of the run. */
void summary_print_advice(FILE *out, const struct summary *summary);

/* Returns whether each RDPMC exits the guest, judged by its duration. */
bool summary_rdpmc_is_trapped(const struct trace_info *info);

/* If requested samples were skipped, prints how to measure what the machine can sustain. */
void summary_print_measure(FILE *out, const struct summary *summary);
