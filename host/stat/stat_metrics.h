/* hr stat --metrics: what the counts of a trace, or of a part of it, come to. */
#pragma once

#include "host/summary/summary.h"

/* `list` as for metrics_choose.  Returns an exit status. */
int stat_metrics(const struct summary *summary, const char *list, bool json);
