/* regions: a program that measures itself with libhr: regions of known length, polls, marks. */
#include "include/hr.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOP 1000u /* iterations; 2 instructions each and 2 to get there and back */
#define PRIVATE_CALL 0x4872 /* libhr's system call, to try it with nonsense */

/* In assembler, so that no compiler changes its length: 2 COUNT + 1 instructions. */
void regions_spin(uint64_t count);
__asm__(".text\n"
        ".type regions_spin, @function\n"
        "regions_spin:\n"
        "1: dec %rdi\n"
        "   jnz 1b\n"
        "   ret\n"
        ".size regions_spin, .-regions_spin\n");

static struct hr_region empty = HR_REGION("empty");
static struct hr_region loop = HR_REGION("loop");
static struct hr_region outer = HR_REGION("outer");
static struct hr_region doomed = HR_REGION("doomed");
static struct hr_region unfinished = HR_REGION("unfinished");

/* Prints what a call returned, and fails the program when it was not 0. */
static int check(const char *what, int status)
{
    if (status)
        fprintf(stderr, "regions: %s: %s\n", what, strerror(-status));
    return status != 0;
}

static int run_regions(uint64_t passes)
{
    int failed = check("hr_mark", hr_mark("regions begin"));

    for (uint64_t i = 0; i < passes; i++) {
        hr_region_begin(&empty);
        hr_region_end(&empty);
        hr_region_begin(&outer);
        hr_region_begin(&loop);
        regions_spin(LOOP);
        hr_region_end(&loop);
        hr_region_begin(&loop);
        regions_spin(2 * LOOP);
        hr_region_end(&loop);
        hr_region_end(&outer);
    }
    failed |= check("hr_mark", hr_mark("regions end"));
    printf("regions: %llu passes, %s\n", (unsigned long long)passes, hr_status_text());
    return failed;
}

static int run_polls(uint64_t count)
{
    int failed = 0;

    for (uint64_t i = 0; i < count; i++) {
        regions_spin(LOOP);
        failed |= check("hr_poll", hr_poll(i % 2 ? HR_ALL_CPUS : HR_THIS_CPU));
    }
    printf("regions: %llu polls\n", (unsigned long long)count);
    return failed;
}

/* Runs stretches of equal length: sampled, paused, sampled. */
static int run_pause(uint64_t count)
{
    int failed = 0;

    failed |= check("hr_start", hr_start());
    regions_spin(count);
    failed |= check("hr_mark", hr_mark("pause"));
    failed |= check("hr_pause", hr_pause());
    failed |= check("hr_pause again", hr_pause());
    regions_spin(count);
    failed |= check("hr_mark", hr_mark("start"));
    failed |= check("hr_start", hr_start());
    failed |= check("hr_start again", hr_start());
    regions_spin(count);
    puts("regions: paused once");
    return failed;
}

/* The smallest difference of two readings, by event, with and without something between them: what
 * reading, a request or polling costs in the rings that each event counts. */
static int run_cost(uint64_t count)
{
    uint64_t least[3][HR_EVENTS_LIMIT], a[HR_EVENTS_LIMIT], b[HR_EVENTS_LIMIT];

    memset(least, 0xff, sizeof least);
    for (uint64_t i = 0; i < 3 * count; i++) {
        volatile uint64_t what = i % 3; /* divided here, not between the readings */

        if (hr_read(a) != 0)
            return check("hr_read", hr_read(a));
        if (what == 1)
            hr_poll(HR_THIS_CPU);
        if (what == 2)
            hr_request_begin(i);
        hr_read(b);
        for (int e = 0; e < hr_event_count(); e++) {
            uint64_t delta = (b[e] - a[e]) & ~0ull >> (64 - hr_event_width(e));
            if (delta < least[what][e])
                least[what][e] = delta;
        }
    }
    for (int e = 0; e < hr_event_count(); e++)
        printf("%s read=%llu request=%llu poll=%llu\n", hr_event_name(e),
               (unsigned long long)least[0][e], (unsigned long long)least[2][e],
               (unsigned long long)least[1][e]);
    return 0;
}

static uint32_t threads_ready, threads_may_end;

static void *run_thread(void *passes)
{
    for (uint64_t i = 0; i < (uint64_t)passes; i++) {
        hr_region_begin(&loop);
        regions_spin(LOOP);
        hr_region_end(&loop);
    }
    __atomic_fetch_add(&threads_ready, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&threads_may_end, __ATOMIC_SEQ_CST))
        regions_spin(LOOP);
    return NULL;
}

/* Has `count` threads in one region at once; then all of them poll and pause. */
static int run_threads(uint64_t count)
{
    pthread_t threads[16];
    int failed = count > 16;

    for (uint64_t i = 0; i < count && !failed; i++)
        failed = check("pthread_create",
                       -pthread_create(&threads[i], NULL, run_thread, (void *)(uint64_t)100));
    while (!failed && __atomic_load_n(&threads_ready, __ATOMIC_SEQ_CST) < count)
        regions_spin(LOOP);
    for (int i = 0; i < 100 && !failed; i++) {
        regions_spin(100 * LOOP);
        hr_poll(HR_ALL_CPUS);
        regions_spin(100 * LOOP);
        hr_pause();
        regions_spin(100 * LOOP);
        hr_start();
    }
    __atomic_store_n(&threads_may_end, 1, __ATOMIC_SEQ_CST);
    for (uint64_t i = 0; i < count && !failed; i++)
        pthread_join(threads[i], NULL);
    printf("regions: %llu threads\n", (unsigned long long)count);
    return failed;
}

/* Ends by a fault within a region that was left `count` times before. */
static int run_crash(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        hr_region_begin(&doomed);
        regions_spin(LOOP);
        hr_region_end(&doomed);
    }
    hr_region_begin(&unfinished);
    hr_region_begin(&doomed);
    __asm__ volatile("ud2");
    return 1;
}

static int run_log(uint64_t count)
{
    int failed = run_polls(count) | check("hr_mark", hr_mark("logged"));

    failed |= check("hr_poll_log", hr_poll_log());
    puts("regions: logged");
    fflush(stdout);
    for (;;)
        regions_spin(LOOP);
    return failed;
}

static int run_marks(uint64_t count)
{
    uint64_t refused = 0;
    char name[32];

    for (uint64_t i = 0; i < 2 * count; i++) { /* every text twice */
        snprintf(name, sizeof name, "mark %llu", (unsigned long long)(i % count));
        refused += hr_mark(name) == -ENOSPC;
    }
    printf("regions: %llu marks, %llu refused\n", (unsigned long long)(2 * count),
           (unsigned long long)refused);
    return 0;
}

/* What every call returns: -ENOSYS on ordinary Linux. */
static int run_native(uint64_t count)
{
    uint64_t values[HR_EVENTS_LIMIT];
    int results[] = {hr_start(),
                     hr_pause(),
                     hr_poll((int)count),
                     hr_log(),
                     hr_poll_log(),
                     hr_mark("native"),
                     hr_read(values),
                     hr_event_count(),
                     hr_event_width(0),
                     hr_region_begin(&empty),
                     hr_region_end(&empty),
                     hr_request_begin(1),
                     hr_request_end(1),
                     hr_request_join(1),
                     hr_request_leave(),
                     hr_request_block(1)};
    int failed = 0;

    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        failed |= results[i] != -ENOSYS;
    printf("%s: available %d, name %s, every call ENOSYS: %s\n", hr_status_text(), hr_available(),
           hr_event_name(0) ? "yes" : "none", failed ? "no" : "yes");
    return failed;
}

/* Misuse, through libhr and past it.  Prints one result a line. */
static int run_misuse(uint64_t count)
{
    static struct hr_region never = HR_REGION("never");
    static struct hr_region nameless = HR_REGION("");
    static char name[300];
    const char text[] = "nowhere";
    /* name, its bytes, place, counters: see struct hr_abi_region */
    const uint64_t places[][4] = {{(uint64_t)text, 7, 0x10000, 1 + (uint64_t)hr_event_count()},
                                  {(uint64_t)text, 7, ~0ull - 64, 1 + (uint64_t)hr_event_count()},
                                  {(uint64_t)text, 7, (uint64_t)places, 1000},
                                  {(uint64_t)text, 0, 0x10000, 1 + (uint64_t)hr_event_count()},
                                  {8, 7, 0x10000, 1 + (uint64_t)hr_event_count()}};

    memset(name, 'x', sizeof name - 1);
    printf("end without begin %d\n", hr_region_end(&never));
    printf("no name %d\n", hr_region_begin(&nameless));
    printf("poll of nothing %d\n", hr_poll(7));
    printf("long mark %d\n", hr_mark(name));
    printf("empty mark %d\n", hr_mark(""));
    printf("no mark %d\n", hr_mark(NULL));
    printf("event 99 %d %s\n", hr_event_width(99), hr_event_name(-1) ? "named" : "unnamed");
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        printf("place %zu %s\n", i,
               syscall(PRIVATE_CALL, 7, places[i]) ? strerror(errno) : "taken");
    printf("no place %s\n", syscall(PRIVATE_CALL, 7, 8) ? strerror(errno) : "taken");
    printf("read to nowhere %s\n", syscall(PRIVATE_CALL, 2, 8) ? strerror(errno) : "taken");
    printf("request of no kind %s\n", syscall(PRIVATE_CALL, 8, 0, 1) ? strerror(errno) : "taken");
    printf("operation %s\n", syscall(PRIVATE_CALL, count + 1000) ? strerror(errno) : "taken");
    return 0;
}

static int run_rdpmc(uint64_t counter)
{
    uint32_t low, high;

    __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"((uint32_t)counter));
    printf("counter %llu: %u\n", (unsigned long long)counter, low);
    fflush(stdout); /* another counter may not be there */
    return 0;
}

static const struct {
    const char *name;
    int (*run)(uint64_t count);
} modes[] = {
    {"regions", run_regions}, {"polls", run_polls},   {"pause", run_pause},
    {"cost", run_cost},       {"crash", run_crash},   {"log", run_log},
    {"marks", run_marks},     {"native", run_native}, {"misuse", run_misuse},
    {"threads", run_threads}, {"rdpmc", run_rdpmc},
};

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : modes[0].name;
    char *end = "";
    int failed = 0;

    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (strcmp(modes[i].name, mode) != 0)
            continue;
        if (argc <= 2)
            return modes[i].run(10);
        for (int at = 2; at < argc && !*end; at++) {
            uint64_t count = strtoull(argv[at], &end, 0);

            failed |= !*end && modes[i].run(count);
        }
        if (!*end)
            return failed;
    }
    fputs("usage: regions "
          "[regions|polls|pause|cost|crash|log|marks|native|misuse|rdpmc|threads [COUNT...]]\n",
          stderr);
    return 2;
}
