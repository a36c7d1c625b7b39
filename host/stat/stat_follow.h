/* The summary of a trace that is still being written. */
#pragma once

#include "host/scan/reader.h"
#include "host/summary/summary.h"

/* Shows the summary as it grows (host/draw/live.h), and fills it as it is at the end.  Returns 0 or
 * -errno, with summary_free in any case; or 1 if it was stopped before there was a trace. */
int stat_follow(struct reader *reader, bool json, struct summary *summary);
