/* Prints the regions that a program named.  For host/report/report_command.c. */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "host/metrics/metrics.h"
#include "host/trace/trace_info.h"

/* Sorts the regions, largest total first, and prints them, with the chosen metrics; `key` is an
 * event's number or TRACE_REGION_TIME.  limit 0 prints all. */
void report_regions_print(FILE *out, struct trace_info *info, uint32_t key,
                          const struct metrics_choice *metrics, unsigned long limit);
