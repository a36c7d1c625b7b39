/* The options of hr bench. */
#pragma once

#include "host/bench/bench.h"

#define BENCH_EXPORTS_MAX 8u

struct bench_wishes {
    struct bench *bench;
    const char *exports[BENCH_EXPORTS_MAX]; /* files */
    size_t export_count;
    bool force; /* may replace files that are no exports */
    char **commands; /* of --command; owned */
    size_t command_count;
    char **words; /* of the programs on the command line, with ":::" between them; not owned */
    size_t word_count;
};

/* Parses the command line, a mistake in which ends the process, and makes the jobs.  Returns 0, or
 * -1 with the failure filled. */
int bench_options_parse(struct bench_wishes *wishes, int argc, char **argv,
                        struct run_failure *failure);
