/* The files of the host that a run's program read (HR_HOST_FILE), from a trace's HOST chunks.
 *
 * Paths are raw (escape them before printing to a terminal).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "include/hr_format.h"
#include "lib/trace/trace_reader.h"

#define TRACE_FILES_MAX 65536u
#define TRACE_FILES_BYTES_MAX (32u << 20) /* of all paths */

struct trace_used_file {
    struct hr_host_file file;
    char *path; /* owned */
};

struct trace_files {
    struct trace_used_file *all; /* in the order of the trace until they are sorted; owned */
    size_t count;
    size_t path_bytes; /* of all */
    uint64_t ignored; /* records beyond these bounds */
};

void trace_files_free(struct trace_files *files);

/* Takes an HR_HOST_FILE.  Returns TRACE_OK, or TRACE_BAD_RECORD if it is too short or has no path.
 * Sets *error to -ENOMEM if memory runs out, and otherwise leaves it unchanged.
 */
enum trace_status trace_files_take(struct trace_files *files, const struct trace_record *record,
                                   int *error);

/* Sorts by the bytes of the paths. */
void trace_files_sort(struct trace_files *files);
