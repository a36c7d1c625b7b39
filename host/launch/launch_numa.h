/* Binds the guest's memory to the NUMA node of the host CPUs that the guest is pinned to. */
#pragma once

#include <stdint.h>

#include "host/launch/launch_memory.h"
#include "host/launch/launch_notes.h"
#include "host/launch/launch_pin.h"

/* Fills memory->bound and node if the host, as ROOT/sys shows it, has several nodes and all pinned
 * CPUs belong to one of them that has room for `bytes`.  Warns if the memory stays unbound although
 * the CPUs are pinned. */
void launch_numa_choose(const char *root, const struct launch_pin *pin, uint64_t bytes,
                        struct launch_memory *memory, struct launch_notes *notes);
