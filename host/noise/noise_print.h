/* How `hr noise` shows what it found. */
#ifndef HOST_NOISE_NOISE_PRINT_H
#define HOST_NOISE_NOISE_PRINT_H

#include <stdio.h>

#include "host/base/output.h"
#include "host/noise/noise.h"

/* `limit` of the longest; 0: all that were kept. */
void noise_print(FILE *out, const struct noise *noise, unsigned long limit);
void noise_rows_csv(struct output *out, const struct noise *noise, unsigned long limit);
void noise_rows_json(struct output *out, const struct noise *noise, unsigned long limit);

#endif
