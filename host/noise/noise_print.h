/* How `hr noise` shows what it found. */
#pragma once

#include <stdio.h>

#include "host/base/output.h"
#include "host/noise/noise.h"

/* `limit` of the longest; 0: all that were kept. */
void noise_print(FILE *out, const struct noise *noise, unsigned long limit);
void noise_rows_csv(struct output *out, const struct noise *noise, unsigned long limit);
void noise_rows_json(struct output *out, const struct noise *noise, unsigned long limit);
