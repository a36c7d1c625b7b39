/* One chunk of a trace while it is decoded for a visitor.  For host/scan/trace_walk*.c. */
#pragma once

#include "host/scan/trace_scan.h"
#include "host/trace/trace_rules.h"

struct trace_walk { /* state of the chunk being decoded */
    struct trace_scan *scan;
    const struct trace_visitor *visitor;
    const struct trace_chunk *chunk;
    struct trace_decoder decoder;
    struct trace_probes_decoder probes;
    struct trace_cursor cursor; /* after the record that is being looked at */
    struct trace_access_state access; /* of the chunk's last */
    uint32_t stacks_end; /* records of stacks before this offset are read already */
    uint32_t accesses_end; /* likewise records of accesses */
    struct trace_slot *slots; /* of the run */
    uint32_t runs_taken; /* of those that were decoded ahead */
    struct trace_rules rules;
    bool inside; /* the selection's span of time holds all of the chunk */
    int result; /* of a callback */
};

/* Hand a record of samples, with the stacks and accesses that follow it, or of hits of probes to
 * the visitor.  What a callback returned, and -ENOMEM, is in w->result. */
enum trace_status trace_walk_samples(struct trace_walk *w, const struct trace_record *record);
enum trace_status trace_walk_hits(struct trace_walk *w, const struct trace_record *record);
