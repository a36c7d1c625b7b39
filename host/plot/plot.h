/* The pictures of `hr plot`.
 *
 * Each reads the trace once and draws into a stream.  0; -errno; -ENODATA when there is nothing of
 * the kind in the trace.  Never print.
 */
#ifndef HOST_PLOT_PLOT_H
#define HOST_PLOT_PLOT_H

#include <stdio.h>

#include "host/draw/svg.h"
#include "host/symbols/symbols.h"
#include "host/trace/selection.h"

#define PLOT_LEFT 64.0 /* where the plots of a picture begin */
#define PLOT_RIGHT (SVG_WIDTH - 16)

struct plot_options {
    const char *path; /* of the trace */
    const struct selection *selection;
    const struct symbols_options *symbols;
    bool incomplete; /* set when a trace is not whole */
};

struct trace_scan;

/* Opens the trace with a copy of the selection.  0 or -errno. */
int plot_open(struct plot_options *options, struct trace_scan *scan);

int plot_timeline(struct plot_options *options, FILE *out);
int plot_intervals(struct plot_options *options, FILE *out);
int plot_calls(struct plot_options *options, FILE *out);
int plot_functions(struct plot_options *options, FILE *out);

/* The title line of a picture: what, and of which program. */
#define PLOT_TITLE_BYTES 512
struct trace_info;
const char *plot_title(char room[PLOT_TITLE_BYTES], const struct trace_info *info,
                       const char *what);

#endif
