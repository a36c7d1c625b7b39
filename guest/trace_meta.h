/* The META chunk: what the trace is about. */
#ifndef GUEST_TRACE_META_H
#define GUEST_TRACE_META_H

#include "lib/trace_writer.h"

/* Adds every metadata record to an open META chunk, from run and the maps noted by trace_map. */
void trace_meta_write(struct trace_writer *w);

/* Adds what is known at the run's end to an open END chunk. */
void trace_meta_end(struct trace_writer *w);

#endif
