/* Carries one of the program's output streams from its port to a descriptor of the command.
 *
 * It has its own thread, because only a blocking write is right for every kind of descriptor: a
 * terminal or pipe that others share must not be made non-blocking.  While the write blocks, the
 * port's socket fills up, and then the guest waits.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "host/base/progress.h"

struct relay_output {
    int from; /* the port's socket; owned by the caller */
    int to;
    int wake; /* an eventfd, written when `error` or `finished` changes */
    bool terminal;
    struct progress *progress;
    pthread_t thread;
    atomic_int error; /* errno of the first failed write; later bytes are discarded */
    atomic_bool finished; /* the stream has ended and everything is written */
};

#define RELAY_OUTPUT_NOWHERE (-1) /* as `to`: discard the stream */

/* Starts the thread.  Returns 0 or -errno. */
int relay_output_start(struct relay_output *output, int from, int to, int wake,
                       struct progress *progress);

/* Waits for the end of the thread.  Call it only after `finished`. */
void relay_output_join(struct relay_output *output);
