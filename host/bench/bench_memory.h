/* hr bench memory: runs the program membench as `hr run` does, and reads its figures. */
#pragma once

#include <stdint.h>

#define BENCH_SIZE_DEFAULT (256ull << 20) /* of a smaller one the caches hold too much */

enum bench_format { BENCH_TABLE, BENCH_CSV, BENCH_JSON };

struct bench_options { /* options of `hr run`; NULL: the default */
    const char *accel;
    const char *qemu;
    const char *cpu;
    const char *pin;
    uint64_t size; /* the largest, in bytes */
    enum bench_format format;
};

/* Measures, prints, and keeps the peak.  Returns the exit status. */
int bench_memory(const struct bench_options *options);
