/* How `hr timeline` shows bins: as a table of small bars, or as rows for other programs. */
#pragma once

#include <stdio.h>

#include "host/base/output.h"
#include "host/timeline/timeline_rates.h"

/* Bars that a terminal of so many columns has room for. */
uint64_t timeline_print_bars(unsigned columns);

void timeline_print(FILE *out, const struct timeline_rates *rates, unsigned columns);

/* One row for each rate of each bin of each group. */
void timeline_rows_csv(struct output *out, const struct timeline_rates *rates);
void timeline_rows_json(struct output *out, const struct timeline_rates *rates);
