/* Checks that a chunk's header agrees with its records, where a trace is read.
 *
 * The rule is docs/format.md, section 2.2.  With wrong times in a header, selections lose samples;
 * wrong counts hide losses.  Agreement between chunks is checked by host/trace/trace_info.h
 * (events, clock, stacks) and host/scan/trace_audit.h (sequences, sums).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/trace/trace_probes.h"
#include "lib/trace/trace_reader.h"

struct trace_rules { /* summary of the records of a chunk so far; all zero before the first */
    uint32_t records;
    uint64_t samples;
    uint64_t lost;
    uint64_t first; /* the earliest time */
    uint64_t last; /* latest time at which something happened or began */
    uint64_t last_end; /* latest time at which something ended */
    bool timed; /* the three times are set */
    bool foreign; /* there were records of a newer version, which may have unknown times */
};

/* Takes a record before it is decoded.  Returns TRACE_BAD_RECORD if its body is shorter than its
 * type needs, if it is a base that is not at the start of a DATA chunk, or if a DATA chunk starts
 * without one. */
enum trace_status trace_rules_record(struct trace_rules *rules, uint16_t chunk_type,
                                     const struct trace_record *record);

/* Takes a decoded run.  `intervals` are those between its samples, or-ed. */
void trace_rules_samples(struct trace_rules *rules, const struct trace_slot *slots, uint32_t count,
                         uint64_t intervals);

/* Takes a decoded run of hits, likewise. */
void trace_rules_hits(struct trace_rules *rules, const struct trace_hit *hits, uint32_t count,
                      uint64_t intervals);

/* Checks the header after the last record.  Returns TRACE_OK or TRACE_BAD_HEADER. */
enum trace_status trace_rules_end(const struct trace_rules *rules,
                                  const struct hr_chunk_header *header);
