/* The summary's lines about sampling itself.  For host/summary/summary_print.c. */
#ifndef HOST_SUMMARY_SUMMARY_SAMPLING_H
#define HOST_SUMMARY_SUMMARY_SAMPLING_H

#include <stdio.h>

#include "host/summary/summary.h"

#define SUMMARY_ROW "%20s  %-20s" /* a quantity and what it is; words follow */

/* What triggered samples, how regularly, what was lost, what each of them cost. */
void summary_print_sampling(FILE *out, const struct summary *summary);

/* A warning, with what to do, when sampling took more than a tenth of the run. */
void summary_print_advice(FILE *out, const struct summary *summary);

/* Whether each RDPMC leaves the guest, by the time that one takes. */
bool summary_rdpmc_is_trapped(const struct trace_info *info);

/* Where to ask what the machine bears: when points were left out that were asked for. */
void summary_print_measure(FILE *out, const struct summary *summary);

#endif
