/* Writes the manifest of a run (include/run_manifest.h) from its options. */
#pragma once

#include <stddef.h>

#include "host/pack/collect/pack_contents.h"

/* Stores the manifest in out[0..*used).  Returns 0, or -1 with the failure filled if it is too
 * long. */
int pack_manifest_write(const struct options *o, const struct launch_machine *machine,
                        const struct pack *pack, char *out, size_t room, size_t *used,
                        struct run_failure *failure);
