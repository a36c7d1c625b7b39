/* Work on one run that may take long, in a thread of its own. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "host/collect/stream_run.h"

struct job {
    pthread_t thread;
    bool running; /* started and not yet joined */
    bool done; /* atomic */
    bool finish; /* calls stream_run_finish, otherwise stream_run_open */
    int wake; /* an eventfd that is signalled at the end */
    struct stream_run *run;
    const char *root;
    struct run_hello hello;
    uint64_t limit_bytes;
    enum run_welcome_status result; /* valid when done */
};

/* Starts the job.  Returns 0 or -errno.  Signals are blocked in the thread as in the caller. */
int stream_job_start(struct job *job);

/* Returns whether the job is done; if so, it is joined and `result` is valid. */
bool stream_job_poll(struct job *job);
