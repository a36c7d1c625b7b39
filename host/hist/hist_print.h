/* How `hr hist` shows a distribution. */
#pragma once

#include <stdio.h>

#include "host/base/output.h"
#include "host/hist/hist.h"

void hist_print(FILE *out, const struct hist *hist, unsigned columns);
void hist_rows_csv(struct output *out, const struct hist *hist);
void hist_rows_json(struct output *out, const struct hist *hist);

/* A value in nanoseconds, where it is a time. */
uint64_t hist_quantity(const struct hist *hist, const struct hist_subject *subject, uint64_t value);
