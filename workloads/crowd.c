/* crowd: many threads, and the rarer ways in which they wait for each other. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "workloads/now.h"

enum { /* <linux/futex.h>, which musl does not bring */
       FUTEX_WAIT_PRIVATE = 128,
       FUTEX_WAKE_PRIVATE = 129,
       FUTEX_CMP_REQUEUE_PRIVATE = 132,
       FUTEX_WAKE_OP_PRIVATE = 133,
       FUTEX_WAIT_BITSET_PRIVATE = 137,
       FUTEX_WAKE_BITSET_PRIVATE = 138,
};
#define ADD_5_IF_IT_WAS_0 (1u << 28 | 5u << 12) /* FUTEX_OP(ADD, 5, CMP_EQ, 0) */
#define CROWD_MAX 5000
#define STACK_BYTES 65536

static unsigned count;
static pthread_t ids[CROWD_MAX];
static pthread_attr_t small;
static _Atomic uint32_t arrived, go;

static void futex(_Atomic uint32_t *word, int operation, uint32_t value)
{
    syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

static int start(unsigned i, void *(*body)(void *))
{
    return pthread_create(&ids[i], &small, body, (void *)(uintptr_t)i);
}

/* Starts `count` threads.  Returns how many could be started. */
static unsigned start_all(void *(*body)(void *))
{
    unsigned made = 0;

    while (made < count && start(made, body) == 0)
        made++;
    return made;
}

static void join_all(unsigned made)
{
    for (unsigned i = 0; i < made; i++)
        pthread_join(ids[i], NULL);
}

/* ---- alive: all at once ---- */

static void *alive_body(void *number)
{
    atomic_fetch_add(&arrived, 1);
    futex(&arrived, FUTEX_WAKE_PRIVATE, 1);
    while (!atomic_load(&go))
        futex(&go, FUTEX_WAIT_PRIVATE, 0);
    return number;
}

static int run_alive(void)
{
    unsigned made = start_all(alive_body);

    for (uint32_t seen; (seen = atomic_load(&arrived)) < made;)
        futex(&arrived, FUTEX_WAIT_PRIVATE, seen);
    atomic_store(&go, 1);
    futex(&go, FUTEX_WAKE_PRIVATE, INT_MAX);
    join_all(made);
    printf("alive: %u at once\n", made);
    return 0;
}

/* ---- churn: one after the other ---- */

static void *churn_body(void *number)
{
    return number;
}

static int run_churn(void)
{
    for (unsigned i = 0; i < count; i++) {
        void *result;

        if (start(0, churn_body) != 0 || pthread_join(ids[0], &result) != 0 || result)
            return 1;
    }
    printf("churn: %u\n", count);
    return 0;
}

/* ---- pi: a mutex that knows its owner ---- */

static pthread_mutex_t mutex;
static uint64_t sum;

static void make_mutex(int robust)
{
    pthread_mutexattr_t attributes;

    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    if (robust)
        pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    if (pthread_mutex_init(&mutex, &attributes) != 0)
        abort();
}

static void *pi_body(void *number)
{
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&mutex);
        uint64_t seen = sum;
        sched_yield(); /* others come to wait */
        sum = seen + 1;
        pthread_mutex_unlock(&mutex);
    }
    return number;
}

static int run_pi(void)
{
    struct timespec until;

    make_mutex(0);
    join_all(start_all(pi_body));
    pthread_mutex_lock(&mutex);
    start(0, pi_body);
    nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL); /* it waits */
    printf("pi: sum %llu, try %s", (unsigned long long)sum,
           strerror(pthread_mutex_trylock(&mutex)));
    pthread_mutex_unlock(&mutex);
    pthread_join(ids[0], NULL);
    pthread_mutex_lock(&mutex);
    clock_gettime(CLOCK_REALTIME, &until);
    printf(", again %s", strerror(pthread_mutex_timedlock(&mutex, &until)));
    pthread_mutex_unlock(&mutex);
    printf(", sum %llu\n", (unsigned long long)sum);
    return 0;
}

/* ---- heir: the owner of one ends while others wait for it ---- */

static void *owner_body(void *number)
{
    pthread_mutex_lock(&mutex);
    atomic_store(&go, 1);
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return number;
}

static void *heir_body(void *number)
{
    if (pthread_mutex_lock(&mutex) == EOWNERDEAD) {
        atomic_fetch_add(&arrived, 1);
        pthread_mutex_consistent(&mutex);
    }
    pthread_mutex_unlock(&mutex);
    return number;
}

static int run_heir(void)
{
    make_mutex(1);
    start(0, owner_body);
    while (!atomic_load(&go))
        sched_yield();
    for (unsigned i = 1; i <= count; i++)
        start(i, heir_body);
    join_all(count + 1);
    printf("heir: %u was told\n", atomic_load(&arrived));
    return 0;
}

/* ---- lock: readers and writers ---- */

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static uint64_t pair[2];

static void *rwlock_body(void *number)
{
    for (int i = 0; i < 100; i++) {
        if ((uintptr_t)number % 4 == 0) {
            pthread_rwlock_wrlock(&rwlock);
            pair[0]++;
            sched_yield();
            pair[1]++;
        } else {
            pthread_rwlock_rdlock(&rwlock);
            if (pair[0] != pair[1])
                abort();
            sched_yield();
        }
        pthread_rwlock_unlock(&rwlock);
    }
    return number;
}

static int run_rwlock(void)
{
    join_all(start_all(rwlock_body));
    printf("rwlock: %llu\n", (unsigned long long)pair[0]);
    return 0;
}

/* ---- op: FUTEX_WAKE_OP, FUTEX_CMP_REQUEUE and bit sets ---- */

static _Atomic uint32_t first, second;

static void *op_body(void *number)
{
    atomic_fetch_add(&arrived, 1);
    syscall(SYS_futex, number ? &second : &first, FUTEX_WAIT_BITSET_PRIVATE, 0, NULL, NULL,
            1u << (uintptr_t)number);
    atomic_fetch_add(&go, 1);
    return number;
}

static int run_op(void)
{
    count = 4; /* 0 waits for the first word, the others for the second */
    start_all(op_body);
    while (atomic_load(&arrived) < count)
        sched_yield();
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    long none = syscall(SYS_futex, &second, FUTEX_WAKE_BITSET_PRIVATE, INT_MAX, NULL, NULL, 1u);
    long one = syscall(SYS_futex, &second, FUTEX_WAKE_BITSET_PRIVATE, INT_MAX, NULL, NULL, 2u);
    long both = syscall(SYS_futex, &first, FUTEX_WAKE_OP_PRIVATE, 1, 1, &second, ADD_5_IF_IT_WAS_0);
    long moved = syscall(SYS_futex, &second, FUTEX_CMP_REQUEUE_PRIVATE, 0, 1, &first, 5);
    long left = syscall(SYS_futex, &first, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
    join_all(count);
    printf("op: %ld %ld %ld %ld %ld, word %u\n", none, one, both, moved, left,
           atomic_load(&second));
    return 0;
}

/* ---- affinity: a thread runs where it may ---- */

static int run_affinity(void)
{
    cpu_set_t all, one;
    int wrong = 0, cpus;

    sched_getaffinity(0, sizeof all, &all);
    cpus = CPU_COUNT(&all);
    for (int round = 0; round < 20; round++) {
        CPU_ZERO(&one);
        CPU_SET(round % cpus, &one);
        wrong += sched_setaffinity(0, sizeof one, &one) != 0 || sched_getcpu() != round % cpus;
    }
    CPU_ZERO(&one);
    CPU_SET(cpus, &one);
    int error = sched_setaffinity(0, sizeof one, &one) ? errno : 0;
    printf("affinity: %d CPUs, %d wrong, one too many: %s\n", cpus, wrong, strerror(error));
    return 0;
}

/* ---- calls, switches: for what they cost, see tests/bench/bench.sh ---- */

static int run_calls(void)
{
    uint64_t start = now_ns();

    for (unsigned i = 0; i < count; i++)
        syscall(SYS_getppid);
    printf("calls: %llu ns each\n", (unsigned long long)((now_ns() - start) / count));
    return 0;
}

static void *switch_body(void *number)
{
    uint32_t own = (uint32_t)(uintptr_t)number;

    for (unsigned i = 0; i < count; i++) {
        while (atomic_load(&go) != own)
            futex(&go, FUTEX_WAIT_PRIVATE, !own);
        atomic_store(&go, !own);
        futex(&go, FUTEX_WAKE_PRIVATE, 1);
    }
    return NULL;
}

static int run_switches(void)
{
    start(1, switch_body);
    switch_body(NULL);
    pthread_join(ids[1], NULL);
    printf("switches: %u\n", 2 * count);
    return 0;
}

static const struct {
    const char *name;
    int (*run)(void);
} modes[] = {
    {"alive", run_alive},       {"churn", run_churn}, {"pi", run_pi},
    {"heir", run_heir},         {"op", run_op},       {"rwlock", run_rwlock},
    {"affinity", run_affinity}, {"calls", run_calls}, {"switches", run_switches},
};

int main(int argc, char **argv)
{
    count = argc > 2 ? (unsigned)atoi(argv[2]) : 4;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK_BYTES);
    for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++)
        if (strcmp(argv[1], modes[i].name) == 0 && count >= 1 &&
            (count < CROWD_MAX || modes[i].run == run_churn || modes[i].run == run_calls ||
             modes[i].run == run_switches))
            return modes[i].run();
    fputs("usage: crowd MODE [COUNT]; MODE is one of", stderr);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        fprintf(stderr, " %s", modes[i].name);
    fputs("\n", stderr);
    return 2;
}
