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
    bool known;
    char text[SAMPLE_ROWS_LABEL_BYTES]; /* "name+0x12", escaped; "" without a name */
};

struct sample_rows { /* zero but for the borrowed three */
    struct output *output;
    const struct trace_info *info;
    struct symbols *symbols;
    bool pids; /* there is a column for them: a trace of several processes; set by the header */
    struct sample_rows_label cache[1u << SAMPLE_ROWS_CACHE_BITS];
};

/* The header's columns, without the line's end. */
void sample_rows_header(struct sample_rows *rows);

/* A sample's columns, without the line's end. */
void sample_rows_put(struct sample_rows *rows, const struct trace_samples *samples,
                     const struct trace_slot *sample, const struct trace_slot *previous);

/* Names that were found before are looked up again. */
void sample_rows_forget(struct sample_rows *rows);
