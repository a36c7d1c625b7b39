/* What the commands that print tables or rows share: formats, output, how they end. */
#ifndef HOST_ROWS_H
#define HOST_ROWS_H

#include <argp.h>

#include "host/output.h"
#include "host/trace_scan.h"

enum rows_format { ROWS_TABLE, ROWS_CSV, ROWS_JSON };

/* The argument of --format; does not return when it is none. */
enum rows_format rows_format(const char *argument, const struct argp_state *state);

/* Rows to standard output; NULL without memory. */
struct output *rows_open(void);

/* Frees it; the exit status of the command.  Says what went wrong, but for a reader that closed the
 * pipe. */
int rows_close(struct output *out);

/* After the walk: says that the trace is incomplete, if so.  HR_EXIT_OK. */
int rows_warn(const struct trace_scan *scan, const char *path);

/* Says that there was nothing to show, and why.  HR_EXIT_FAILED. */
int rows_nothing(const struct trace_scan *scan, const char *path);

#endif
