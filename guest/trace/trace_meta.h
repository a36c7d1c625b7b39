/* The META chunk: what the trace is about. */
#pragma once

#include "lib/trace/trace_writer.h"

/* Adds every metadata record to an open META chunk, from run and the maps noted by trace_map. */
void trace_meta_write(struct trace_writer *w);

/* What reached the rings but found no room in the trace: guest/trace/trace_loss.h. */
struct trace_dropped {
    uint64_t samples; /* of those that are lost */
    uint64_t records; /* others */
};

/* Adds what is known at the run's end to an open END chunk. */
void trace_meta_end(struct trace_writer *w, const struct trace_dropped *dropped);
