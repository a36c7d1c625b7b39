/* Decodes what the emulator counted at every address, for host/scan/trace_scan.c.  Never prints. */
#pragma once

#include "host/scan/trace_scan.h"

/* Hands the counts of an HR_HOST_EXACT_COUNTS record to a visitor that wants them; checks them for
 * others.  *result: of the callback, or -ENOMEM. */
enum trace_status trace_exact_visit(struct trace_scan *scan, const struct trace_visitor *visitor,
                                    const struct hr_chunk_header *chunk,
                                    const struct trace_record *record, int *result);
