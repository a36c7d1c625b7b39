/* The golden trace of precise samples. */
#ifndef TESTS_GOLDEN_GOLDEN_ACCESSES_H
#define TESTS_GOLDEN_GOLDEN_ACCESSES_H

#include "lib/trace/trace_accesses.h"
#include "tests/golden/golden.h"

#define GOLDEN_ACCESSES_EVENTS 3u
#define GOLDEN_ACCESSES_SAMPLES 90u

size_t golden_accesses_build(uint8_t *out);
struct trace_slot golden_accesses_sample(uint32_t i);

/* What sample i accessed, with its registers. */
struct hr_access golden_accesses_access(uint32_t i);

#endif
