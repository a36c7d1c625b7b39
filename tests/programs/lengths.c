/* lengths: functions of known length.
 *
 *   lengths ROUNDS
 *
 * spins, sleeps, takes a lock that is held for known times, and has a slow call of a thousand.  The
 * duration of spin, nap, take and serve is twice their argument and something that is the same for
 * all calls.
 *
 *   lengths observe N
 *
 * makes N calls, which take the time at their beginning and their end, too.  Of those above 20 us
 * it prints "before begin end after" in ns.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CALLED __attribute__((noinline))
#define PLAIN __attribute__((noinline, no_instrument_function))
#define FAST 40u
#define SLOW 4000u /* of serve, once in 1,000 */
#define LIMIT_NS 20000u
#define KEPT_MAX 100000u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t go, done;
static volatile uint64_t sink;
static struct times {
    uint64_t before, begin, end, after;
} kept_times[KEPT_MAX];

uint64_t spin(uint64_t n);
void nap(uint64_t half);
void take(uint64_t n);
void hold(uint64_t n);
void serve(uint64_t n);
uint64_t fib(uint64_t n);
void *waits(void *rounds);
void locks(uint64_t rounds);
void known(uint64_t n, struct times *times);

#ifdef HOOKS /* the loop in a function that can have hooks */
CALLED uint64_t spin(uint64_t n)
{
    __asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(n)::"cc");
    return n;
}
#else /* from the first instruction to the last one: 1 + 2n */
__asm__(".text\n.globl spin\n.type spin, @function\n"
        "spin: mov %rdi, %rax\n"
        "1: dec %rdi\n"
        "jnz 1b\n"
        "ret\n"
        ".size spin, . - spin\n");
#endif

CALLED void nap(uint64_t half)
{
    const struct timespec time = {.tv_nsec = (long)(2 * half)};

    nanosleep(&time, NULL);
    sink++;
}

CALLED void serve(uint64_t n)
{
    spin(n);
    sink++;
}

CALLED uint64_t fib(uint64_t n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

/* Waits for the lock while the other thread sleeps and then spins n times. */
CALLED void take(uint64_t n)
{
    pthread_mutex_lock(&lock);
    sink += n;
    pthread_mutex_unlock(&lock);
}

CALLED void hold(uint64_t n)
{
    const struct timespec time = {.tv_nsec = 1000000};

    pthread_mutex_lock(&lock);
    sem_post(&go);
    nanosleep(&time, NULL); /* the other thread comes to the lock */
    spin(n);
    pthread_mutex_unlock(&lock);
}

CALLED void *waits(void *rounds)
{
    for (uint64_t i = 0; i < (uint64_t)rounds; i++) {
        sem_wait(&go);
        take(1000 + 17 * i);
        sem_post(&done);
    }
    return NULL;
}

CALLED void locks(uint64_t rounds)
{
    pthread_t thread;

    sem_init(&go, 0, 0);
    sem_init(&done, 0, 0);
    pthread_create(&thread, NULL, waits, (void *)rounds);
    for (uint64_t i = 0; i < rounds; i++) {
        hold(1000 + 17 * i);
        sem_wait(&done);
    }
    pthread_join(thread, NULL);
}

/* ---- calls that are observed ---- */

PLAIN static uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

CALLED void known(uint64_t n, struct times *times)
{
    times->begin = now();
    for (; n > 0; n--)
        __asm__ volatile("");
    times->end = now();
}

/* Rounds of a call: from 16 to 2^21, each power of two half as often as the one before it; every
 * 50,000th has 2^24. */
PLAIN static uint64_t length(uint64_t i)
{
    uint64_t random = (i + 1) * 6364136223846793005u >> 20;

    return i % 50000 == 25000 ? 1u << 24 : 16u << (random ? __builtin_ctzll(random) % 18 : 0);
}

PLAIN static int observe(uint64_t calls)
{
    uint64_t kept = 0;

    for (uint64_t i = 0; i < calls && kept < KEPT_MAX; i++) {
        struct times *one = &kept_times[kept];

        one->before = now();
        known(length(i), one);
        one->after = now();
        kept += one->end - one->begin > LIMIT_NS;
    }
    for (uint64_t i = 0; i < kept; i++)
        printf("%lu %lu %lu %lu\n", kept_times[i].before, kept_times[i].begin, kept_times[i].end,
               kept_times[i].after);
    return 0;
}

int main(int argc, char **argv)
{
    uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 0) : 100;

    if (argc > 2 && strcmp(argv[1], "observe") == 0)
        return observe(strtoull(argv[2], NULL, 0));
    for (uint64_t i = 0; i < 90 * rounds + 1; i++)
        serve(i % 1000 ? FAST : SLOW);
    for (uint64_t i = 0; i < rounds; i++)
        nap(50000 + 111 * i);
    locks(rounds);
    printf("%lu\n", fib(15));
    return 0;
}
