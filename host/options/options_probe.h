/* The options for probes: --probe, --probes, --probe-args, --probe-every, --probe-stack; --alloc,
 * --alloc-min, --alloc-every, --alloc-library. */
#pragma once

#include "host/options/options_archive.h"

#define OPTIONS_PROBE_EVERY_MAX 1000000000u

/* A child of options_archive_argp, with the same input. */
extern const struct argp options_probe_argp;

/* After all options: probes imply --waits, and --probe-stack implies call stacks. */
int options_probe_imply(struct options *o, struct run_failure *failure);

/* After all options, reports contradictions.  Both return 0, or -1 with the failure filled. */
int options_probe_finish(const struct options *o, struct run_failure *failure);
