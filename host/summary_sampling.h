/* The summary's lines about sampling itself.  For host/summary_print.c. */
#ifndef HOST_SUMMARY_SAMPLING_H
#define HOST_SUMMARY_SAMPLING_H

#include <stdio.h>

#include "host/summary.h"

#define SUMMARY_ROW "%20s  %-20s" /* a quantity and what it is; words follow */

/* What triggered samples, how regularly, what was lost, what each of them cost. */
void summary_print_sampling(FILE *out, const struct summary *summary);

/* A warning, with what to do, when sampling took more than a tenth of the run. */
void summary_print_advice(FILE *out, const struct summary *summary);

#endif
