/* What the exporters of `hr export` share.
 *
 * To add a format: write host/export/NAME/export_NAME.c with a `const struct export_format
 * export_NAME`, and list it in host/export/export_command.c.  Its run() calls export_walk once with
 * a visitor of its own and writes to e->output.  e->info is complete before the walk begins: maps,
 * events, how the run ended. Failed writes are remembered by the output, and the frame reports
 * them; run() only stops early, by returning e->output.error from its callbacks.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/base/output.h"
#include "host/base/output_kind.h"
#include "host/export/common/functions.h"
#include "host/scan/object_share.h"
#include "host/scan/reader.h"
#include "host/symbols/symbols.h"

/* hiresperf's records: today's, and older ones with a counter less, once with padding. */
#define EXPORT_HRPERF_BYTES 60u
#define EXPORT_HRPERF_ALIGNED_BYTES 56u
#define EXPORT_HRPERF_PACKED_BYTES 52u

struct export_options {
    struct reader reader;
    const struct export_format *format;
    const char *output; /* as given; NULL: in the trace's folder */
    bool force; /* the output may replace a file of any kind */
    const char *weight; /* of folded stacks: an event, NULL: samples */
    bool off_cpu; /* folded stacks are those of waits, weighed by their time */
    uint32_t record_bytes; /* of hrperf */
    uint64_t bin_ns; /* of perfetto's rates */
};

struct export
{
    const struct export_options *options;
    struct trace_info info; /* all that the trace says about itself */
    struct trace_scan scan;
    struct symbols *symbols;
    struct functions functions; /* names for addresses, numbered */
    struct output output;
    const char *file; /* where the output goes, for formats that write a file themselves */
    int weight; /* of folded stacks: an event's number, -1: samples */
    const struct trace_visitor *visitor; /* of export_walk */
    uint64_t samples; /* that it has seen */
    uint64_t followed; /* invocations, waits and requests that were written */
    struct object_share share;
};

struct export_format {
    const char *name;
    const char *extension; /* of the default output, which takes the trace's name */
    const char *summary; /* one line for --list */
    const char *opener; /* tools and sites that show it */
    bool exact; /* shows what the emulator counted; other formats show times or stacks */
    bool needs_file; /* cannot be written to a pipe: seeks, or writes e->file itself */
    output_kind_likeness *looks_alike; /* of a format without a mark (host/base/output_kind.h) */
    int (*run)(struct export *e); /* 0, or -errno of reading or of memory */
};

extern const struct export_format export_callgrind;
extern const struct export_format export_csv;
extern const struct export_format export_firefox;
extern const struct export_format export_folded;
extern const struct export_format export_hrperf;
extern const struct export_format export_perf;
extern const struct export_format export_perfetto;
extern const struct export_format export_pprof;
extern const struct export_format export_sqlite;

/* The info's map that an address lies in, numbered from 1; 0: none. */
size_t export_map(const struct trace_info *info, uint64_t address);

/* Adds the views of a trace's processes to the maps of e->info, for formats that know one address
 * space: then their addresses are common ones (host/trace/trace_spaces.h).  Returns 0 or -ENOMEM.
 */
int export_common_maps(struct export *e);

/* Walks over the trace; the visitor has no `step`, but it takes samples or waits.  As
 * trace_scan_run. */
int export_walk(struct export *e, const struct trace_visitor *visitor);

/* Counts samples at an address, of a digest that the visitor has taken: the walk counts others. */
void export_count(struct export *e, uint64_t ip, uint64_t samples);

#define EXPORT_DIGEST_ROWS (1u << 15) /* of one chunk; those with more are visited */

/* What an event's counter rose by up to a sample, as far as it belongs to the sample: nothing was
 * counted for the first one after a pause. */
static inline uint64_t export_increment(const struct trace_slot *sample,
                                        const struct trace_slot *previous, uint32_t event)
{
    return (sample->flags & HR_SAMPLE_RESUMED) != 0
               ? 0
               : sample->counters[event] - previous->counters[event];
}
