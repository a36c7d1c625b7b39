/* requests: a server with a fault: now and then it holds a lock far too long.
 *
 * The first thread makes requests and puts them into a queue; workers serve them: they look into a
 * cache, which has a lock, work, and count, under another lock.  Once in EVERY requests the cache
 * is cleaned: evict() holds cache_lock LONGER times as long as lookup() does, and waits for a disk
 * with it, so that the other workers wait for evict().  With "plain" it does not say what it works
 * for. */
#include "include/hr.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOKUP 200u /* iterations with cache_lock */
#define WORK 1000u /* without a lock */
#define COUNTING 20u /* with stats_lock */
#define EVERY 10000u
#define LONGER 100u
#define DISK_NS 50000
#define PLACES 8u /* of the queue */
#define WORKERS_MAX 16u

static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t stats_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    pthread_cond_t emptied;
    uint64_t requests[PLACES];
    uint64_t put, taken; /* so far */
    int closed;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER,
           .filled = PTHREAD_COND_INITIALIZER,
           .emptied = PTHREAD_COND_INITIALIZER};
static struct {
    uint64_t served, evictions, sum;
} stats;
static int tells; /* libhr knows about the requests */

/* Something that takes time and depends on nothing but its arguments. */
static __attribute__((noinline)) uint64_t compute(uint64_t value, uint64_t iterations)
{
    for (uint64_t i = 0; i < iterations; i++)
        value = value * 6364136223846793005u + 1442695040888963407u;
    return value;
}

static __attribute__((noinline)) uint64_t evict(uint64_t request)
{
    const struct timespec disk = {.tv_nsec = DISK_NS};
    uint64_t value = compute(request, (uint64_t)LOOKUP * LONGER);

    nanosleep(&disk, NULL);
    return value;
}

static __attribute__((noinline)) uint64_t lookup(uint64_t request)
{
    uint64_t value;

    pthread_mutex_lock(&cache_lock);
    value = request % EVERY == EVERY / 2 ? evict(request) : compute(request, LOOKUP);
    pthread_mutex_unlock(&cache_lock);
    return value;
}

static __attribute__((noinline)) void count(uint64_t request, uint64_t value)
{
    pthread_mutex_lock(&stats_lock);
    stats.served++;
    stats.evictions += request % EVERY == EVERY / 2;
    stats.sum += compute(value, COUNTING);
    pthread_mutex_unlock(&stats_lock);
}

static __attribute__((noinline)) void serve(uint64_t request)
{
    count(request, compute(lookup(request), WORK));
}

static void put(uint64_t request)
{
    pthread_mutex_lock(&queue.lock);
    while (queue.put - queue.taken == PLACES)
        pthread_cond_wait(&queue.emptied, &queue.lock);
    queue.requests[queue.put++ % PLACES] = request;
    pthread_cond_signal(&queue.filled);
    pthread_mutex_unlock(&queue.lock);
}

/* Returns 0 when there will be no more. */
static uint64_t take(void)
{
    uint64_t request = 0;

    pthread_mutex_lock(&queue.lock);
    while (queue.put == queue.taken && !queue.closed)
        pthread_cond_wait(&queue.filled, &queue.lock);
    if (queue.put != queue.taken)
        request = queue.requests[queue.taken++ % PLACES];
    pthread_cond_signal(&queue.emptied);
    pthread_mutex_unlock(&queue.lock);
    return request;
}

static void close_queue(void)
{
    pthread_mutex_lock(&queue.lock);
    queue.closed = 1;
    pthread_cond_broadcast(&queue.filled);
    pthread_mutex_unlock(&queue.lock);
}

static void *work(void *unused)
{
    uint64_t request;

    while ((request = take()) != 0) {
        if (tells)
            hr_request_join(request);
        serve(request);
        if (tells)
            hr_request_end(request);
    }
    return unused;
}

static void make(uint64_t requests)
{
    for (uint64_t request = 1; request <= requests; request++) {
        if (tells) {
            hr_request_begin(request);
            hr_request_block(request);
        }
        put(request);
    }
    close_queue();
}

int main(int argc, char **argv)
{
    char *end = "", *end_of_workers = "";
    uint64_t requests = argc > 1 ? strtoull(argv[1], &end, 0) : 2 * EVERY;
    uint64_t workers = argc > 2 ? strtoull(argv[2], &end_of_workers, 0) : 4;
    pthread_t threads[WORKERS_MAX];

    if (argc > 4 || *end || *end_of_workers || !workers || workers > WORKERS_MAX ||
        (argc == 4 && strcmp(argv[3], "plain") != 0)) {
        fprintf(stderr, "usage: requests [COUNT [WORKERS [plain]]]\n");
        return 2;
    }
    tells = argc < 4;
    for (uint64_t i = 0; i < workers; i++) {
        int error = pthread_create(&threads[i], NULL, work, NULL);

        if (error) {
            fprintf(stderr, "requests: pthread_create: %s\n", strerror(error));
            return 1;
        }
    }
    make(requests);
    for (uint64_t i = 0; i < workers; i++)
        pthread_join(threads[i], NULL);
    printf("requests: %llu served, %llu evictions, sum %llx\n", (unsigned long long)stats.served,
           (unsigned long long)stats.evictions, (unsigned long long)stats.sum);
    return 0;
}
