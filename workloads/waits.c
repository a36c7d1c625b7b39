/* waits: what ends a wait, and what does not: each mode prints what it saw. */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FUTEX_WAIT 0 /* <linux/futex.h>, which musl does not bring */
#define FUTEX_WAKE 1
#define NS_PER_S 1000000000ll

static volatile int stage;
static uint32_t word;

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static void spin(uint64_t count)
{
    __asm__ volatile("1: dec %0; jnz 1b" : "+r"(count));
}

/* ---- early: a wait of 20 ms is over after 2, and the program continues past its timeout ---- */

static void *wake_early(void *unused)
{
    const struct timespec pause = {0, 2000000};

    nanosleep(&pause, NULL);
    while (syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0) == 0)
        ;
    return unused;
}

static int run_early(void)
{
    const struct timespec timeout = {0, 20000000};
    pthread_t id;
    int64_t start = now_ns();

    if (pthread_create(&id, NULL, wake_early, NULL) != 0)
        return 1;
    long result = syscall(SYS_futex, &word, FUTEX_WAIT, 0, &timeout, NULL, 0);
    pthread_join(id, NULL);
    while (now_ns() < start + 2 * timeout.tv_nsec)
        spin(1000);
    printf("early: %ld\n", result);
    return 0;
}

/* ---- sleep: the waker of a futex at address 0 finds no thread ---- */

static void *sleeper(void *unused)
{
    const struct timespec soon = {0, 100000}, pause = {0, 50000000};

    syscall(SYS_futex, &word, FUTEX_WAIT, 0, &soon, NULL, 0);
    stage = 1;
    int64_t start = now_ns();
    nanosleep(&pause, NULL);
    int64_t slept = now_ns() - start;
    stage = 2;
    printf("sleep: %s\n", slept >= pause.tv_nsec ? "all of it" : "too short");
    return unused;
}

static int run_sleep(void)
{
    pthread_t id;

    if (pthread_create(&id, NULL, sleeper, NULL) != 0)
        return 1;
    while (stage < 1)
        spin(10);
    while (stage < 2)
        syscall(SYS_futex, NULL, FUTEX_WAKE, 1, NULL, NULL, 0);
    pthread_join(id, NULL);
    return 0;
}

/* ---- signal: a thread that waits for ever is sent a signal by one that then does, too ---- */

static void on_signal(int /* signal */)
{
    syscall(SYS_exit, 0);
}

static void *wait_for_signal(void *unused)
{
    stage = 1;
    pause();
    return unused;
}

static int run_signal(unsigned rounds)
{
    signal(SIGUSR1, on_signal);
    for (unsigned i = 0; i < rounds; i++) {
        pthread_t id;

        stage = 0;
        if (pthread_create(&id, NULL, wait_for_signal, NULL) != 0)
            return 1;
        while (stage == 0)
            spin(10);
        spin(20000); /* it is in pause() */
        pthread_kill(id, SIGUSR1);
        pthread_join(id, NULL);
    }
    printf("signal: %u times\n", rounds);
    return 0;
}

/* ---- backlog: the kernel has much to send; then the program does not stay in it for long ---- */

static int run_backlog(unsigned calls)
{
    for (unsigned i = 0; i < calls; i++)
        syscall(SYS_getppid);
    spin(10000000);
    return 0;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    unsigned count = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : 1;

    if (strcmp(mode, "early") == 0)
        return run_early();
    if (strcmp(mode, "sleep") == 0)
        return run_sleep();
    if (strcmp(mode, "signal") == 0)
        return run_signal(count);
    if (strcmp(mode, "backlog") == 0)
        return run_backlog(count);
    fprintf(stderr, "usage: waits early|sleep|signal [ROUNDS]|backlog CALLS\n");
    return 2;
}
