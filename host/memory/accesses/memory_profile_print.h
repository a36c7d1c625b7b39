/* Prints counts of accesses as a table, or as rows of CSV or JSON. */
#pragma once

#include <stdio.h>

#include "host/base/output.h"
#include "host/memory/accesses/memory_profile.h"

/* The first lines: what was recorded. */
void memory_profile_print_head(FILE *out, const struct trace_info *info, uint64_t records,
                               uint64_t without);

/* For a terminal of so many columns (host/base/pager.h). */
void memory_profile_print(FILE *out, const struct memory_profile *rows,
                          const struct memory_counts *counts, enum memory_profile_by by,
                          unsigned long limit, unsigned int terminal);
void memory_profile_put(struct output *out, bool json, const struct memory_profile *rows,
                        const struct memory_counts *counts, unsigned long limit);
