/* The profile of a trace that is still being written.  For host/report/report_command.c. */
#pragma once

#include "host/report/report.h"

/* Opens the trace, shows the profile as it grows (host/draw/live.h) and reads it to its end.
 * Returns 0, -errno, or the exit status of a failure that it reported; the scan is open then.  If
 * it is not (scan.slots is NULL), -errno, or 1 where it was stopped before there was a trace. */
int report_follow(struct report *report, struct reader *reader);
