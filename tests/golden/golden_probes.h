/* The golden trace of probes. */
#ifndef TESTS_GOLDEN_GOLDEN_PROBES_H
#define TESTS_GOLDEN_GOLDEN_PROBES_H

#include "lib/trace/trace_probes.h"

#define GOLDEN_PROBES_EVENTS 2u
#define GOLDEN_PROBES_ARGUMENTS 2u
#define GOLDEN_PROBES_HITS 60u
#define GOLDEN_PROBES_SAMPLES 20u

size_t golden_probes_build(uint8_t *out);
size_t golden_probes_build_calls(uint8_t *out);
struct trace_slot golden_probes_sample(uint32_t i);

/* Its hits, in their order. */
struct trace_hit golden_probes_hit(uint32_t i);

#endif
