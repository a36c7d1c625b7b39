/* The META chunk: what the trace is about. */
#ifndef GUEST_TRACE_META_H
#define GUEST_TRACE_META_H

#include "lib/trace_writer.h"

/* Adds every metadata record to an open META chunk, from run and the maps noted by trace_map. */
void trace_meta_write(struct trace_writer *w);

#endif
