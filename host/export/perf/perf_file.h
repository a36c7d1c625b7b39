/* The layout of a perf.data file around its records: header, features, events.
 *
 * The file begins with a header of 104 bytes that says where the rest is, and a mark of ours; then
 * come the records, the features (host, command line, build-ids ...), and the events with the
 * identifiers that samples use.  The kernel describes it in
 * tools/perf/Documentation/perf.data-file-format.txt; records and struct perf_event_attr are those
 * of linux/perf_event.h.
 */
#pragma once

#include <stdint.h>

#include "host/base/output.h"
#include "host/base/output_kind.h"
#include "host/trace/trace_info.h"

#define PERF_FILE_HEADER_BYTES 104u
#define PERF_FILE_DATA (PERF_FILE_HEADER_BYTES + sizeof OUTPUT_MARK_PERF - 1) /* records begin */
#define PERF_FILE_CPUS_MAX 65536u

struct perf_file {
    const struct trace_info *info;
    char **paths; /* of the files that info's maps show; NULL: none */
    uint64_t sample_type; /* PERF_SAMPLE_... */
    uint64_t data_bytes; /* of the records */
    uint64_t first_ns, last_ns; /* of the samples */
    uint16_t *cpus; /* that have records */
    uint32_t cpu_count;
    uint32_t pid;
};

/* The events are one group: how often a sample was taken, and each event of the trace. */
static inline uint32_t perf_file_members(const struct perf_file *file)
{
    return 1 + file->info->event_count;
}

/* The identifier of a member of the group on a CPU. */
static inline uint64_t perf_file_id(const struct perf_file *file, uint32_t cpu, uint32_t member)
{
    return 1 + (uint64_t)cpu * perf_file_members(file) + member;
}

/* Writes what follows the records, and at last the header in front of them: `out` must be a file.
 * 0 or -ENOMEM; failed writes are remembered by the output. */
int perf_file_finish(struct output *out, const struct perf_file *file);
