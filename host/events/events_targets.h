/* The events of one run, encoded for several CPUs, because it is not known yet which one counts
 * them: an archive's `target-cpu` and `event-encoding` (include/run_manifest.h).
 */
#ifndef HOST_EVENTS_EVENTS_TARGETS_H
#define HOST_EVENTS_EVENTS_TARGETS_H

#include <stddef.h>

#include "host/events/events.h"

struct events_group { /* CPUs that spell all the events alike */
    char *cpus; /* comma-separated, as events_cpu_text names them */
    struct events_encoding encodings[HR_EVENTS_MAX];
};

struct events_targets {
    struct events_group *groups;
    size_t count;
    size_t kinds; /* of CPU that libpfm4 has a table for and that have all the events */
    size_t kinds_known;
};

/* Encodes the events that are wanted for `list`: CPUs as events_cpu_parse takes them, and tables of
 * libpfm4's, which stand for all their models; each must have all the events; or "all": for every
 * CPU that is known and has them, and for others of the same vendors if the events are the same on
 * all.  0, or -1 with the failure filled: no CPU has them all.
 */
int events_targets_make(struct events_targets *t, const char *list,
                        const struct events_wanted *wanted, struct run_failure *failure);
void events_targets_free(struct events_targets *t);

#endif
