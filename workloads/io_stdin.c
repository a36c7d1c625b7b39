/* io_stdin: several threads read standard input until its end; polls say when there is some.
 *   io_stdin split N    N threads read pieces; the sum of all bytes is printed
 *   io_stdin poll       says what polls find, then reads line by line
 *   io_stdin signal     a signal interrupts a read
 *   io_stdin nested     polls an epoll that watches it
 *   io_stdin parallel   a thread waits for input while another one works, and then ends the
 *                       program
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "workloads/io.h"

#define THREADS_MAX 16

static volatile sig_atomic_t caught;

static void on_signal(int signal)
{
    caught = signal;
}

/* ---- split ---- */

struct share {
    uint64_t bytes;
    uint64_t sum;
    pthread_t id;
};

static void *read_share(void *context)
{
    struct share *share = context;
    unsigned char buffer[5000];
    long count;

    while ((count = read(0, buffer, sizeof buffer)) > 0) {
        share->bytes += (uint64_t)count;
        for (long i = 0; i < count; i++)
            share->sum += buffer[i];
    }
    return (void *)count;
}

static int split(int threads)
{
    struct share shares[THREADS_MAX] = {0}, all = {0};

    for (int i = 0; i < threads; i++)
        if (pthread_create(&shares[i].id, NULL, read_share, &shares[i]))
            abort();
    for (int i = 0; i < threads; i++) {
        void *end;

        pthread_join(shares[i].id, &end);
        if (end)
            printf("thread %d: an error\n", i);
        all.bytes += shares[i].bytes;
        all.sum += shares[i].sum;
    }
    printf("%llu bytes, sum %llu\n", (unsigned long long)all.bytes, (unsigned long long)all.sum);
    return 0;
}

/* ---- poll ---- */

static int ready(int ms)
{
    struct pollfd p = {.fd = 0, .events = POLLIN};
    int count = poll(&p, 1, ms);

    return count <= 0 ? count : p.revents;
}

static int watched(int epoll, int ms)
{
    struct epoll_event event;
    int count = epoll_wait(epoll, &event, 1, ms);

    return count <= 0 ? count : (int)event.events;
}

static int polls(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    char buffer[100];
    int epoll = epoll_create1(0);
    long count;

    SAY(epoll_ctl(epoll, EPOLL_CTL_ADD, 0, &event));
    SAY(ready(0));
    SAY(watched(epoll, 0));
    SAY(fcntl(0, F_SETFL, O_NONBLOCK));
    SAY(read(0, buffer, sizeof buffer));
    SAY(write(1, "go\n", 3)); /* the other side waits for this */
    do {
        SAY(watched(epoll, -1));
        SAY(ready(-1));
        SAY(count = read(0, buffer, sizeof buffer));
    } while (count > 0);
    SAY(fcntl(0, F_SETFL, 0));
    return 0;
}

/* ---- signal ---- */

static pthread_t reader;

static void *interrupt(void *)
{
    const struct timespec soon = {0, 20000000};

    nanosleep(&soon, NULL);
    pthread_kill(reader, SIGUSR1);
    return NULL;
}

static int signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    pthread_t id;
    char byte;

    sigaction(SIGUSR1, &action, NULL);
    reader = pthread_self();
    pthread_create(&id, NULL, interrupt, NULL);
    SAY(read(0, &byte, 1));
    SAY(caught);
    pthread_join(id, NULL);
    return 0;
}

/* ---- one thread waits while another works ---- */

static void *read_for_ever(void *)
{
    char byte;

    SAY(read(0, &byte, 1));
    exit(1);
}

static int parallel(void)
{
    pthread_t id;
    uint64_t sum = 0;

    pthread_create(&id, NULL, read_for_ever, NULL);
    for (uint64_t i = 0; i < 3000000; i++)
        sum += i ^ sum;
    printf("parallel: %llu\n", (unsigned long long)sum);
    return 3;
}

/* ---- nested ---- */

static int nested(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    struct pollfd p = {.events = POLLIN};

    p.fd = epoll_create1(0);
    SAY(epoll_ctl(p.fd, EPOLL_CTL_ADD, 0, &event));
    SAY(poll(&p, 1, -1));
    SAY(p.revents);
    return 0;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";

    if (strcmp(mode, "split") == 0 && argc > 2 && atoi(argv[2]) <= THREADS_MAX)
        return split(atoi(argv[2]));
    setvbuf(stdout, NULL, _IONBF, 0);
    if (strcmp(mode, "poll") == 0)
        return polls();
    if (strcmp(mode, "signal") == 0)
        return signals();
    if (strcmp(mode, "parallel") == 0)
        return parallel();
    if (strcmp(mode, "nested") == 0)
        return nested();
    fprintf(stderr, "usage: io_stdin split N | poll | signal | parallel | nested\n");
    return 2;
}
