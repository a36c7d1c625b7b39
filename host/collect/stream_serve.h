/* `hr collect --listen tcp:`: one port, many machines, a directory for every run.
 *
 * One thread with poll() serves all connections in turn, a bounded piece of each at a time.  Work
 * that may take long (finding and checking a run, completing it) gets a thread for that run.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "host/base/run_failure.h"

#define STREAM_LIMIT_BYTES (16ull << 30)
#define STREAM_CLIENTS 64u
#define STREAM_CLIENTS_MAX 1000u
#define STREAM_IDLE_NS 60000000000ull

struct stream_options {
    const char *listen; /* what follows "tcp:" */
    const char *root; /* directory of the results */
    const char *token_file; /* NULL: HR_TOKEN of the environment, or no token */
    uint64_t limit_bytes; /* of one run */
    uint64_t idle_ns; /* a machine that is silent for this time is considered dead */
    uint64_t clients; /* machines at a time */
    uint64_t runs; /* ends after this number of runs; 0: never */
    bool quiet;
};

/* Serves until a signal or `runs`.  Returns the exit status.  Reports on stderr. */
int stream_serve(const struct stream_options *options, struct run_failure *failure);
