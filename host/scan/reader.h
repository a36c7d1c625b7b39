/* What the commands that read a trace have in common: the argument FILE, and how they fail. */
#ifndef HOST_SCAN_READER_H
#define HOST_SCAN_READER_H

#include <argp.h>
#include <stdint.h>

/* argp's parser for the argument FILE alone: *path is NULL until it was given. */
error_t reader_parse_file(int key, const char *argument, const struct argp_state *state,
                          const char **path);

/* The file to read: hr.bin where none was given. */
const char *reader_file(const char *path);

/* Reports a failure of trace_file_open() or of reading; returns the command's exit status, which
 * tells what is no trace from what could not be read.
 */
int reader_fail(const char *path, int error);

/* Reports that no sample of the trace is selected; returns the command's exit status. */
int reader_nothing_selected(const char *path, uint64_t duration_ns);

/* The option --jobs, as a child of a command's argp: its input is an unsigned int, 0 by default. */
extern const struct argp reader_jobs_argp;

#endif
