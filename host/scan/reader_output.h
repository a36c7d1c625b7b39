/* What the commands that print tables or rows share: --event, output, how they end. */
#pragma once

#include "host/base/output.h"
#include "host/base/output_file.h"
#include "host/scan/trace_scan.h"

/* The event that --event names; -1 after saying that the trace has none of that name. */
int reader_event(const struct trace_info *info, const char *name);

/* Looks for the event in a trace that is not open.  Returns 0, or -1 after saying what is wrong.
 * NULL, and "samples", are in each trace. */
int reader_event_in(const char *path, const char *name);

/* Says why standard output takes nothing more, by an -errno. */
void reader_print_failure(int error);

/* Rows to standard output, once in a process. */
struct output *reader_output_open(void);

/* The exit status of the command.  Says what went wrong, but for a reader that closed the pipe. */
int reader_output_close(struct output *out);

/* Closes the file of a command that ended with `status`, which the file keeps its name with if it
 * is HR_EXIT_OK; where stderr is a terminal it says then what was written: its kind, and what opens
 * it. The exit status of the command. */
int reader_output_finish(struct output_file *file, int status, const char *kind,
                         const char *opener);

/* After the walk: if the trace is incomplete, says so and that `shown`, such as "the rows are what
 * is there"; NULL: this is what is there. */
void reader_warn(const struct trace_scan *scan, const char *path, const char *shown);

#define READER_WHY_BYTES 256

/* Why a trace has no samples, as far as it says so, with the remedy. */
char *reader_no_samples(const struct trace_scan *scan, char *text, size_t room);

/* Says that there was nothing to show, and why.  `last` is the time of the trace's last record.
 * HR_EXIT_FAILED. */
int reader_nothing(const struct trace_scan *scan, const char *path, uint64_t last);
