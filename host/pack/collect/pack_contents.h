/* What one archive is made of, from the search for the program until it is written. */
#pragma once

#include "host/launch/launch.h"
#include "host/options/options.h"
#include "host/pack/list/pack_list.h"
#include "host/pack/program/pack_environment.h"
#include "host/pack/program/pack_program.h"
#include "host/probe/probe.h"

struct pack {
    struct pack_program program;
    struct pack_environment environment;
    struct pack_list list;
    struct launch_notes notes; /* what was left out, and why */
    uint64_t memory_bytes; /* for the segments of the program and its libraries, and for probes */
    struct probe probe; /* what the table of probes was made of */
    uint8_t *probes; /* include/run_probes.h; NULL: none; owned */
    size_t probe_bytes;
};
