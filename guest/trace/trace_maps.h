/* Load maps on their way into the trace: those that trace_map noted and no META chunk holds yet.
 * The kernel lock's holder adds maps; service context takes them. */
#ifndef GUEST_TRACE_TRACE_MAPS_H
#define GUEST_TRACE_TRACE_MAPS_H

#include <stdbool.h>

#include "lib/trace_writer.h"

/* Tells python_mapped of maps that are new to it.  Context: any; may run on several CPUs at once.
 */
void trace_maps_offer(void);

bool trace_maps_any(void); /* maps wait to be written */

/* Adds a record for each map that waits to an open META chunk, as many as fit. */
void trace_maps_write(struct trace_writer *w);

#endif
