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
#include "host/scan/trace_scan.h"
#include "host/symbols/symbols.h"

#define SAMPLE_ROWS_CACHE_BITS 12
#define SAMPLE_ROWS_LABEL_BYTES 240

struct sample_rows_label { /* an address and its name, found before */
    uint64_t ip;
    uint64_t batch; /* of the team, which has the name at `place`; 0: none */
    uint32_t place;
    bool known;
    char text[SAMPLE_ROWS_LABEL_BYTES]; /* "name+0x12", escaped; "" without a name */
};

struct sample_rows_team;

struct sample_rows { /* zero but for the borrowed three */
    struct output *output;
    const struct trace_info *info;
    struct symbols *symbols;
    struct sample_rows_team *team; /* NULL: rows are formatted by the caller's thread */
    bool pids; /* there is a column for them: a trace of several processes; set by the header */
    struct sample_rows_label cache[1u << SAMPLE_ROWS_CACHE_BITS];
};

/* The header's columns, without the line's end. */
void sample_rows_header(struct sample_rows *rows);

/* A sample's columns, without the line's end. */
void sample_rows_put(struct sample_rows *rows, const struct trace_samples *samples,
                     const struct trace_slot *sample, const struct trace_slot *previous);

/* Before the walk: rows of sample_rows_run may be formatted by so many threads (0: as many as there
 * are CPUs) for a long trace.  Then nothing else is written to the output before
 * sample_rows_finish. */
void sample_rows_start(struct sample_rows *rows, const struct trace_scan *scan);

/* Rows of a run of samples, with their lines' ends.  Returns 0 or the output's error. */
int sample_rows_run(struct sample_rows *rows, const struct trace_samples *samples);

/* Until then: all rows so far are in the output, which something else may be written to. */
void sample_rows_wait(struct sample_rows *rows);

/* After the walk: all rows are in the output. */
void sample_rows_finish(struct sample_rows *rows);

/* Names that were found before are looked up again. */
void sample_rows_forget(struct sample_rows *rows);
