/* The value of --event. */
#pragma once

#include "host/options/options.h"

/* Splits a comma-separated list into o->events.  Returns 0, or -1 with the failure filled; for an
 * unknown name it lists the nearest known ones. */
int options_parse_events(struct options *o, const char *list, struct run_failure *failure);
