/* What must agree in a trace, checked where it is read: a chunk's header with its records.
 *
 * docs/format.md, section 2.2, is the rule.  A header that lies about times makes selections lose
 * samples, one that lies about counts hides losses.  What must agree between chunks is kept by
 * host/trace/trace_info.h (events, clock, stacks) and host/scan/trace_audit.h (sequences, sums).
 */
#ifndef HOST_TRACE_TRACE_RULES_H
#define HOST_TRACE_TRACE_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/trace_reader.h"

struct trace_rules { /* what the records of a chunk have said so far; zero before the first */
    uint32_t records;
    uint64_t samples;
    uint64_t lost;
    uint64_t first; /* the earliest time */
    uint64_t last; /* the latest time at which something happened */
    uint64_t last_end; /* or at which something that lasted was over */
    bool timed; /* the three above are set */
    bool foreign; /* records of a newer version, which may have times that nobody knows of here */
};

/* Takes a record before it is decoded.  TRACE_BAD_RECORD when its body is shorter than its type's,
 * or when it is a base elsewhere than at the start of a DATA chunk, or none is there.
 */
enum trace_status trace_rules_record(struct trace_rules *rules, uint16_t chunk_type,
                                     const struct trace_record *record);

/* Takes a run that was decoded.  `intervals` are those between its samples, or-ed. */
void trace_rules_samples(struct trace_rules *rules, const struct trace_slot *slots, uint32_t count,
                         uint64_t intervals);

/* After the last record: TRACE_OK, or TRACE_BAD_HEADER. */
enum trace_status trace_rules_end(const struct trace_rules *rules,
                                  const struct hr_chunk_header *header);

#endif
