/* Rows that several threads format and that are written in their order.
 *
 * The thread that visits samples stores what a row says as words.  A thread formats the batches of
 * rows that it filled after its turn (scan->after_turn), because its cache has them; threads of the
 * team help where more was filled, as the visiting one does where no batch is free.  So nothing but
 * the visiting thread looks at the trace, but for slots that are kept.  Without other threads the
 * rows are formatted likewise.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/base/output.h"
#include "host/scan/trace_scan.h"

#define ROW_TEAM_WORDS_MAX 4096u /* with one for each row, so that batches stay in the cache */

struct row_team;

/* Writes a row; called by any thread, by several at once. */
typedef void row_team_format(void *owner, struct output *out, const uint64_t *words,
                             const char *bytes);

/* Begins with as many threads as a walk over the scan's file may have.  Until row_team_free only
 * the team writes to `out`, or the caller after row_team_drain.  NULL without memory. */
struct row_team *row_team_new(struct output *out, struct trace_scan *scan, row_team_format *format,
                              void *owner);

/* The batch that the next row goes to, a number that never comes again, starting at 1.  It has room
 * for a row of so many words, for so many bytes more, and for as much text. */
uint64_t row_team_batch(struct row_team *team, uint32_t words, size_t bytes, size_t text);

/* Copies bytes to the batch, and returns where they are in its bytes. */
uint32_t row_team_keep(struct row_team *team, const char *bytes, size_t count);

/* The words of the next row, to be filled before anything else is asked for. */
uint64_t *row_team_row(struct row_team *team, uint32_t words);

/* No more rows come into the batch: those in it may refer to slots of samples that are kept
 * (trace_samples.kept). */
void row_team_close(struct row_team *team);

/* Whether rows are formatted by row_team_close, not later. */
bool row_team_is_alone(const struct row_team *team);

/* A row that is these bytes. */
void row_team_bytes(struct row_team *team, const void *bytes, size_t count);

/* The output's error, as far as it is known. */
int row_team_error(const struct row_team *team);

/* Waits until all rows are in the output. */
void row_team_drain(struct row_team *team);

/* Likewise, and ends the threads; NULL: nothing. */
void row_team_free(struct row_team *team);
