/* Records of a CPU's ring that are not samples.  Context: service. */
#pragma once

#include "lib/trace/trace_slot.h"
#include "lib/trace/trace_writer.h"

/* Adds the record that a slot holds, HR_REC_LOST too, to an open chunk.  Returns as
 * trace_writer_record does. */
int trace_record_write(struct trace_writer *w, const struct trace_slot *slot);
