/* Says why a specification names nothing that can have a probe.  For host/probe/probe_find.c.  All
 * return -1 with the failure filled. */
#pragma once

#include "host/probe/probe.h"
#include "host/probe/probe_lines.h"
#include "host/probe/probe_spec.h"

/* The name is that of a choice among implementations. */
int probe_explain_choice(struct probe *p, const struct probe_spec *spec,
                         const struct probe_file *file);

/* Nothing was found in the files.  `lines` is what the last one says about a line. */
int probe_explain_missing(struct probe *p, const struct probe_spec *spec,
                          struct probe_file *const *files, size_t count,
                          const struct probe_lines *lines);
