/* Rows of samples, formatted by several threads and written in their order.
 *
 * The thread that visits samples stores the numbers and the name of each row; a full batch of rows
 * is formatted by whichever thread is free, the visiting one included where no batch is free.  So
 * nothing but the visiting thread looks at the trace.  For host/scan/sample_rows.c.
 */
#pragma once

#include <stdint.h>

#include "host/base/output.h"

#define SAMPLE_ROWS_TEAM_MAX 8u

struct sample_rows_team;

/* Begins with so many threads more than the caller's.  NULL without memory or threads. */
struct sample_rows_team *sample_rows_team_new(struct output *out, unsigned int threads);

/* The batch that the next row goes to, a number that never comes again; -errno in *error if nothing
 * more can be written.  It has room for a row with a name of so many bytes. */
uint64_t sample_rows_team_batch(struct sample_rows_team *team, uint32_t fields, size_t name_bytes,
                                int *error);

/* Copies a name to the batch, and returns where it is there. */
uint32_t sample_rows_team_name(struct sample_rows_team *team, const char *name);

/* Returns the fields of the next row, in the batch's order: time, CPU, thread, address, place of
 * the name, and what events rose by. */
uint64_t *sample_rows_team_row(struct sample_rows_team *team);

/* Waits until all rows are written. */
void sample_rows_team_drain(struct sample_rows_team *team);

/* Likewise, and ends the threads. */
void sample_rows_team_free(struct sample_rows_team *team);
