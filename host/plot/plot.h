/* The pictures of `hr plot`.
 *
 * Each reads the trace once and draws into a stream.  0; -errno; -ENODATA when there is nothing of
 * the kind in the trace.  Never print.
 */
#pragma once

#include <stdio.h>

#include "host/draw/svg.h"
#include "host/scan/reader.h"
#include "host/symbols/symbols.h"

#define PLOT_LEFT 64.0 /* where the plots of a picture begin */
#define PLOT_RIGHT (SVG_WIDTH - 16)

struct plot_options {
    struct reader reader;
    const char *output;
    bool force;
    const struct plot_picture *picture; /* NULL: all, or for one file the timeline */
    const char *function; /* whose durations are drawn; NULL: those with the worst tails */
    uint64_t from_address, to_address; /* of memory, both inclusive; `to` 0: all */
    uint64_t block_bytes; /* of a row of memory; 0: as it fits */
    const char *before; /* the trace that the picture diff compares with; NULL: none */
    const char *event; /* that it compares; NULL: instructions, else samples */
    const char *failed; /* the trace that could not be read; NULL: the reader's */
    bool incomplete; /* set when a trace is not whole */
};

/* Opens the trace with a copy of the selection.  0 or -errno. */
int plot_open(struct plot_options *options, struct trace_scan *scan);

/* Notes whether the trace was whole, and closes it. */
void plot_close(struct plot_options *options, struct trace_scan *scan);

int plot_timeline(struct plot_options *options, FILE *out);
int plot_intervals(struct plot_options *options, FILE *out);
int plot_calls(struct plot_options *options, FILE *out);
int plot_functions(struct plot_options *options, FILE *out);
int plot_waits(struct plot_options *options, FILE *out);
int plot_memory(struct plot_options *options, FILE *out);
int plot_latency(struct plot_options *options, FILE *out);
int plot_diff(struct plot_options *options, FILE *out);

/* The title line of a picture: what, and of which program. */
#define PLOT_TITLE_BYTES 512
const char *plot_title(char room[PLOT_TITLE_BYTES], const struct trace_info *info,
                       const char *what);
