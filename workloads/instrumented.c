/* A program whose functions have hooks (-finstrument-functions): calls of known numbers and
 * durations.
 *
 *   instrumented CASE [N [ROUNDS]]
 *
 * It prints what it did: runs with and without a kernel that records agree.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLAIN __attribute__((noinline, no_instrument_function))
#define CALLED __attribute__((noinline))
#define CROWD_MAX 400u

static volatile uint64_t sink;

/* 2 * n + 1 instructions, whatever compiled it, and those of the call. */
PLAIN static void spin(uint64_t n)
{
    __asm__ volatile("1: decq %0\n\tjnz 1b" : "+r"(n)::"cc");
}

CALLED static void leaf(uint64_t n)
{
    spin(n);
}

CALLED static void empty(void)
{
    __asm__ volatile("");
}

CALLED static uint64_t recurse(uint64_t n)
{
    uint64_t below = n > 1 ? recurse(n - 1) : 0;

    sink += n;
    return below + n;
}

CALLED static void outer(uint64_t n)
{
    leaf(n);
    leaf(2 * n);
    spin(n);
}

static jmp_buf back;

static volatile int armed = 1;

CALLED static void thrower(uint64_t n)
{
    if (n)
        thrower(n - 1);
    else if (armed)
        longjmp(back, 1);
    sink++;
}

CALLED static void catcher(uint64_t n)
{
    if (setjmp(back) == 0)
        thrower(n);
    leaf(n);
}

CALLED static void on_signal(int number)
{
    (void)number;
    empty();
}

CALLED static void *run_thread(void *argument)
{
    for (uint64_t i = 0; i < (uint64_t)argument; i++)
        leaf(i + 1);
    return NULL;
}

CALLED static void run_threads(uint64_t n)
{
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, run_thread, (void *)n);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

/* Threads one after another. */
CALLED static void run_churn(uint64_t n)
{
    pthread_t thread;

    for (uint64_t i = 0; i < n; i++) {
        pthread_create(&thread, NULL, run_thread, (void *)1);
        pthread_join(thread, NULL);
    }
}

CALLED static void *meet(void *barrier)
{
    pthread_barrier_wait(barrier);
    return NULL;
}

/* Threads that are all there at one time. */
CALLED static void run_crowd(uint64_t n)
{
    pthread_t threads[CROWD_MAX];
    pthread_barrier_t barrier;

    if (n > CROWD_MAX)
        n = CROWD_MAX;
    pthread_barrier_init(&barrier, NULL, (unsigned)n);
    for (uint64_t i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, meet, &barrier);
    for (uint64_t i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}

CALLED static void run_fork(uint64_t n)
{
    pid_t child = fork();

    if (child == 0) {
        leaf(n);
        _exit(0);
    }
    leaf(n);
    waitpid(child, NULL, 0);
}

CALLED static void run_signals(uint64_t n)
{
    signal(SIGUSR1, on_signal);
    for (uint64_t i = 0; i < n; i++)
        raise(SIGUSR1);
}

/* Runs a case.  Returns false if there is none of that name. */
CALLED static int run_case(const char *name, uint64_t n, uint64_t rounds)
{
    if (strcmp(name, "calls") == 0)
        for (uint64_t i = 0; i < n; i++)
            empty();
    else if (strcmp(name, "outer") == 0)
        outer(n);
    else if (strcmp(name, "recurse") == 0)
        printf("sum %lu\n", recurse(n));
    else if (strcmp(name, "longjmp") == 0)
        for (uint64_t i = 0; i < n; i++)
            catcher(10);
    else if (strcmp(name, "threads") == 0)
        run_threads(n);
    else if (strcmp(name, "churn") == 0)
        run_churn(n);
    else if (strcmp(name, "crowd") == 0)
        run_crowd(n);
    else if (strcmp(name, "fork") == 0)
        run_fork(n);
    else if (strcmp(name, "signals") == 0)
        run_signals(n);
    else if (strcmp(name, "long") == 0)
        for (uint64_t i = 0; i < n; i++)
            leaf(rounds);
    else
        return 0;
    return 1;
}

int main(int argc, char **argv)
{
    uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 0) : 1000;
    uint64_t rounds = argc > 3 ? strtoull(argv[3], NULL, 0) : 100000;

    if (argc < 2 || !run_case(argv[1], n, rounds)) {
        fprintf(stderr, "usage: instrumented CASE [N [ROUNDS]]\n");
        return 2;
    }
    printf("%s %lu done\n", argv[1], n);
    return 0;
}
