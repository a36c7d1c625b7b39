/* The events of one run, encoded for several CPUs, because the CPU that will count them is not
 * known yet: an archive's `target-cpu` and `event-encoding` (include/run_manifest.h). */
#pragma once

#include <stddef.h>

#include "host/events/events.h"

struct events_group { /* CPUs with the same encoding of all the events */
    char *cpus; /* comma-separated, as events_cpu_text names them */
    struct events_encoding encodings[HR_EVENTS_MAX];
};

struct events_targets {
    struct events_group *groups;
    size_t count;
    size_t kinds; /* kinds of CPU with a table in libpfm4 and all the events */
    size_t kinds_known;
};

/* Encodes the wanted events for `list`, or for "all".  A list has CPUs as for events_cpu_parse, and
 * tables of libpfm4, which mean all their models; each must have all the events.  "all" means every
 * known CPU that has them, and unknown CPUs of their vendors if the events are the same on all.
 * Returns 0, or -1 with the failure filled if no CPU has them all. */
int events_targets_make(struct events_targets *t, const char *list,
                        const struct events_wanted *wanted, struct run_failure *failure);
void events_targets_free(struct events_targets *t);
