/* Splits the event list of -e and checks what can be checked before the CPU is known. */
#ifndef HOST_OPTIONS_OPTIONS_EVENTS_H
#define HOST_OPTIONS_OPTIONS_EVENTS_H

#include "host/options/options.h"

#define OPTIONS_EVENTS_DEFAULT "instructions,cycles,branches,branch-misses,cache-misses"

/* Splits a comma-separated list into o->events.  Returns 0, or -1 with the failure filled; for an
 * unknown name it lists the nearest known ones.
 */
int options_events_parse(struct options *o, const char *list, struct run_failure *failure);

#endif
