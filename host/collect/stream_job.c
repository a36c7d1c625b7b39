/* Runs a job. */
#include <unistd.h>

#include "host/collect/stream_job.h"

static void *work(void *context)
{
    struct job *job = context;
    const uint64_t one = 1;

    job->result = job->finish ? stream_run_finish(job->run)
                              : stream_run_open(job->run, job->root, &job->hello, job->limit_bytes);
    __atomic_store_n(&job->done, true, __ATOMIC_RELEASE);
    if (write(job->wake, &one, sizeof one) < 0) /* a full counter wakes the reader, too */
        return NULL;
    return NULL;
}

int stream_job_start(struct job *job)
{
    int error;

    job->done = false;
    error = pthread_create(&job->thread, NULL, work, job);
    job->running = error == 0;
    return -error;
}

static void job_wait(struct job *job)
{
    if (!job->running)
        return;
    pthread_join(job->thread, NULL);
    job->running = false;
}

bool stream_job_poll(struct job *job)
{
    if (!job->running || !__atomic_load_n(&job->done, __ATOMIC_ACQUIRE))
        return false;
    job_wait(job);
    return true;
}
