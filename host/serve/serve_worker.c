/* A thread that works for another one, which may give it up. */
#include "host/serve/serve_worker.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "host/base/monotonic.h"

#define NS_PER_S 1000000000ull
#define NS_PER_MS 1000000u
#define POLL_MS 60000

enum { WORKING, DONE, ABANDONED };

/* Once it is abandoned the worker's own thread frees it. */
struct serve_worker {
    pthread_t thread;
    int begin; /* eventfd: there is work, or with `work` NULL the end */
    int done; /* eventfd */
    struct serve_work *work;
    atomic_int state;
};

static atomic_uint abandoned;

unsigned int serve_worker_abandoned(void)
{
    return atomic_load(&abandoned);
}

/* An eventfd that counts a few events accepts them at once. */
static void raise_event(int fd)
{
    const uint64_t one = 1;

    while (write(fd, &one, sizeof one) < 0 && errno == EINTR)
        continue;
}

static void take_event(int fd)
{
    uint64_t count;

    while (read(fd, &count, sizeof count) < 0 && errno == EINTR)
        continue;
}

static void free_worker(struct serve_worker *w)
{
    if (w->begin >= 0)
        close(w->begin);
    if (w->done >= 0)
        close(w->done);
    free(w);
}

static void *run(void *argument)
{
    struct serve_worker *w = argument;

    for (;;) {
        int working = WORKING;

        take_event(w->begin);
        if (w->work == NULL)
            return NULL;
        w->work->perform(w->work);
        if (!atomic_compare_exchange_strong(&w->state, &working, DONE))
            break;
        raise_event(w->done);
    }
    w->work->release(w->work);
    free_worker(w);
    atomic_fetch_sub(&abandoned, 1);
    return NULL;
}

/* Returns NULL with an -errno in *error. */
static struct serve_worker *create(int *error)
{
    struct serve_worker *w = calloc(1, sizeof *w);

    *error = -ENOMEM;
    if (w == NULL)
        return NULL;
    w->begin = eventfd(0, EFD_CLOEXEC);
    w->done = eventfd(0, EFD_CLOEXEC);
    *error = w->begin < 0 || w->done < 0 ? -errno : -pthread_create(&w->thread, NULL, run, w);
    if (*error == 0)
        return w;
    free_worker(w);
    return NULL;
}

/* Returns 0 when the work was done in time, -EIO, or -ECANCELED after an interruption. */
static int await(const struct serve_worker *w, uint64_t limit_ns, int interrupt)
{
    struct pollfd polled[] = {{.fd = w->done, .events = POLLIN},
                              {.fd = interrupt, .events = POLLIN}};
    uint64_t now_ns = monotonic_ns();
    uint64_t end_ns = now_ns + limit_ns;
    int result = -EIO;

    do {
        uint64_t rest_ms = (end_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS;

        (void)poll(polled, 2, rest_ms < POLL_MS ? (int)rest_ms : POLL_MS);
        if (polled[0].revents != 0)
            return 0;
        now_ns = monotonic_ns();
        if (polled[1].revents != 0 && end_ns > now_ns) {
            polled[1] = (struct pollfd){.fd = -1};
            result = -ECANCELED;
            end_ns = end_ns - now_ns < SERVE_GRACE_NS ? end_ns : now_ns + SERVE_GRACE_NS;
        }
    } while (now_ns < end_ns);
    return result;
}

/* Returns false if the work has just been done.  Otherwise the thread may free it all at once. */
static bool give_up(struct serve_worker *w)
{
    pthread_t thread = w->thread;
    int working = WORKING;

    atomic_fetch_add(&abandoned, 1);
    atomic_store(&w->work->abandoned, true);
    if (atomic_compare_exchange_strong(&w->state, &working, ABANDONED)) {
        pthread_detach(thread);
        return true;
    }
    atomic_fetch_sub(&abandoned, 1);
    return false;
}

int serve_worker_do(struct serve_worker **worker, struct serve_work *work, uint64_t limit_ns,
                    int interrupt)
{
    struct serve_worker *w = *worker;
    int error;

    if (atomic_load(&abandoned) >= SERVE_ABANDONED_MAX)
        return -EAGAIN;
    if (w == NULL)
        w = *worker = create(&error);
    if (w == NULL)
        return error;
    w->work = work;
    atomic_store(&w->state, WORKING);
    atomic_store(&work->abandoned, false);
    raise_event(w->begin);
    error = await(w, limit_ns, interrupt);
    if (error != 0 && give_up(w)) {
        *worker = NULL;
        return error;
    }
    take_event(w->done);
    return 0;
}

void serve_worker_end(struct serve_worker *w)
{
    if (w == NULL)
        return;
    w->work = NULL;
    raise_event(w->begin);
    pthread_join(w->thread, NULL);
    free_worker(w);
}
