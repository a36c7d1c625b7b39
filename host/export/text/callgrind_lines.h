/* The lines of a callgrind export: functions one after the other, each by address.
 */
#pragma once

#include "host/export/common/export.h"
#include "host/report/tally.h"

#define CALLGRIND_COLUMNS_MAX (1 + HR_EVENTS_MAX) /* samples, events */

/* Exact counts have no samples: their weight is the first event. */
static inline uint32_t callgrind_first_column(const struct trace_info *info)
{
    return info->has_exact ? 1 : 0;
}

/* Writes the lines of what was counted by as many threads as walk over the trace, and adds up their
 * columns.  0, -ENOMEM or the output's error. */
int callgrind_lines_put(struct export *e, const struct tally *tally,
                        uint64_t totals[CALLGRIND_COLUMNS_MAX]);
