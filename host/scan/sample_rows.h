/* Samples as rows of comma-separated values: what `hr dump` and `hr export csv` write.
 *
 * The columns are time_ns, cpu, pid (if the trace tells of processes), tid, ip, symbol and what
 * each event's counter rose by; where samples are precise, also the address, source and latency of
 * the access, which are empty if the instruction accessed nothing, and the events that made the
 * record.
 */
#pragma once

#include <stdbool.h>

#include "host/base/output.h"
#include "host/scan/row_team.h"
#include "host/symbols/symbols.h"

#define SAMPLE_ROWS_CACHE_BITS 12
#define SAMPLE_ROWS_LABEL_BYTES 240

struct sample_rows_label { /* an address and its name, found before */
    uint64_t ip;
    uint64_t batch; /* of the team, which has the name at `place` */
    uint32_t place;
    uint16_t bytes;
    bool known;
};

struct sample_rows { /* zero but for the borrowed three and `pids` */
    struct output *output;
    const struct trace_info *info;
    struct symbols *symbols;
    struct row_team *team; /* owned */
    bool pids; /* there is a column for them: the caller knows of several processes, or the header
                  finds that the info does */
    struct output field; /* in which names are made */
    struct sample_rows_label cache[1u << SAMPLE_ROWS_CACHE_BITS];
    /* Their names: "name+0x12", escaped, as a field; "" without one. */
    char names[1u << SAMPLE_ROWS_CACHE_BITS][2 * SAMPLE_ROWS_LABEL_BYTES];
};

/* The header's columns, without the line's end. */
void sample_rows_header(struct sample_rows *rows);

/* Before the walk: rows of a long trace are formatted by several threads, as `format` of `owner`
 * says; NULL: nothing follows the columns.  Then nothing else is written to the output before
 * sample_rows_finish.  Returns 0 or -ENOMEM. */
int sample_rows_start(struct sample_rows *rows, struct trace_scan *scan, row_team_format *format,
                      void *owner);

/* Rows of a run of samples, with their lines' ends.  Returns 0 or the output's error. */
int sample_rows_run(struct sample_rows *rows, const struct trace_samples *samples);

/* For a format that more follows in: the row of sample n but for its last words, which it returns
 * and which say what takes `text` bytes at most; for samples without accesses. */
uint64_t *sample_rows_add(struct sample_rows *rows, const struct trace_samples *samples, uint32_t n,
                          uint32_t words, size_t text);

/* A row's columns, without the line's end.  Returns its last words. */
const uint64_t *sample_rows_columns(const struct sample_rows *rows, struct output *out,
                                    const uint64_t *words, const char *bytes);

/* Sample n's columns at once, with its access, without the line's end. */
void sample_rows_put(struct sample_rows *rows, const struct trace_samples *samples, uint32_t n);

/* After the walk: all rows are in the output. */
void sample_rows_finish(struct sample_rows *rows);

/* Names that were found before are looked up again. */
void sample_rows_forget(struct sample_rows *rows);
