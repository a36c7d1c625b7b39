/* threads: what programs do with threads, with results that can be checked. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 256
#define FUTEX_WAIT_PRIVATE 128 /* <linux/futex.h>, which musl does not bring */
#define FUTEX_WAKE_PRIVATE 129
#define PAGE 4096u

/* Two instructions an iteration, whatever the compiler does. */
void threads_loop(uint64_t count);
__asm__(".text\n"
        ".type threads_loop, @function\n"
        "threads_loop:\n"
        "1: dec %rdi\n"
        "   jnz 1b\n"
        "   ret\n"
        ".size threads_loop, .-threads_loop\n");

static unsigned thread_count;
static uint64_t rounds;
static pthread_t ids[THREADS_MAX];
static pthread_barrier_t barrier;

static void die(const char *what, int error)
{
    fprintf(stderr, "threads: %s: %s\n", what, strerror(error));
    exit(1);
}

/* Runs `body` in thread_count - 1 threads and in this one: with one CPU for each, all run. */
static void run_all(void *(*body)(void *))
{
    for (unsigned i = 1; i < thread_count; i++) {
        int error = pthread_create(&ids[i], NULL, body, (void *)(uintptr_t)i);

        if (error)
            die("pthread_create", error);
    }
    body(NULL);
    for (unsigned i = 1; i < thread_count; i++)
        pthread_join(ids[i], NULL);
}

/* ---- count: each thread as long as its number says ---- */

static void *count_body(void *number)
{
    pthread_barrier_wait(&barrier);
    threads_loop(rounds * ((uintptr_t)number + 1));
    return NULL;
}

static int run_count(void)
{
    pthread_barrier_init(&barrier, NULL, thread_count);
    run_all(count_body);
    printf("count: %u threads\n", thread_count);
    return 0;
}

/* ---- sync: mutex, condition variable, barrier ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static uint64_t shared_sum;
static uint64_t turn; /* thread turn % thread_count is next */

static void *sync_body(void *number)
{
    uintptr_t own = (uintptr_t)number;

    for (uint64_t i = 0; i < rounds; i++) {
        pthread_mutex_lock(&mutex);
        shared_sum += own + 1;
        pthread_mutex_unlock(&mutex);
    }
    pthread_barrier_wait(&barrier);
    for (uint64_t i = 0; i < rounds / 10; i++) {
        pthread_mutex_lock(&mutex);
        while (turn % thread_count != own)
            pthread_cond_wait(&turned, &mutex);
        turn++;
        pthread_cond_broadcast(&turned);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static int run_sync(void)
{
    pthread_barrier_init(&barrier, NULL, thread_count);
    run_all(sync_body);
    printf("sync: sum %llu, turns %llu\n", (unsigned long long)shared_sum,
           (unsigned long long)turn);
    return 0;
}

/* ---- pingpong: a word that two threads hand to each other by futex ---- */

static _Atomic uint32_t ball;

static void futex(_Atomic uint32_t *word, int operation, uint32_t value)
{
    syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

static void *pingpong_body(void *number)
{
    uint32_t own = number ? 1 : 0;

    if ((uintptr_t)number > 1)
        return NULL;
    for (uint64_t i = 0; i < rounds; i++) {
        while (atomic_load(&ball) != own)
            futex(&ball, FUTEX_WAIT_PRIVATE, !own);
        atomic_store(&ball, !own);
        futex(&ball, FUTEX_WAKE_PRIVATE, INT_MAX);
    }
    return NULL;
}

static int run_pingpong(void)
{
    run_all(pingpong_body);
    printf("pingpong: %u\n", atomic_load(&ball));
    return 0;
}

/* ---- map: one thread changes mappings that the others use ---- */

static uint8_t *window;
static _Atomic bool finished;
static _Atomic uint64_t faults;
static _Thread_local sigjmp_buf *escape;

static void on_fault(int /* signal */)
{
    atomic_fetch_add(&faults, 1);
    if (escape)
        siglongjmp(*escape, 1);
    _exit(99);
}

/* Writes to the window all the time; faults when it is gone or read-only. */
static void *map_user(void *number)
{
    volatile uint8_t *mine = window + (uintptr_t)number * 64;
    sigjmp_buf here;

    escape = &here;
    while (!atomic_load(&finished)) {
        if (sigsetjmp(here, 1) == 0)
            for (unsigned page = 0; page < 16; page++)
                mine[page * PAGE] = (uint8_t)page;
    }
    escape = NULL;
    return NULL;
}

/* Whether the changer continues: it does until the others have seen a change, even a late one. */
static bool map_more(uint64_t round)
{
    if (round < rounds)
        return true;
    return thread_count > 1 && !atomic_load(&faults) && round < 1000 * rounds;
}

/* Checks what others see at once: a page that became read-only no longer changes, and one that was
 * unmapped is not written to when its memory serves something else. */
static void map_changer(void)
{
    for (uint64_t i = 0; map_more(i); i++) {
        volatile uint8_t *byte = window + 64;
        uint8_t before;

        mprotect(window, 16 * PAGE, PROT_READ);
        before = *byte;
        for (int spin = 0; spin < 100; spin++)
            if (*byte != before)
                die("a read-only page changed", EIO);
        munmap(window, 16 * PAGE);
        uint8_t *other =
            mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (other == window && mprotect(window, 16 * PAGE, PROT_NONE))
            die("mprotect", errno);
        if (other != window) {
            memset(other, 0, 16 * PAGE);
            for (unsigned byte_at = 0; byte_at < 16 * PAGE; byte_at++)
                if (other[byte_at])
                    die("fresh memory is not zero", EIO);
            munmap(other, 16 * PAGE);
        }
        if (mmap(window, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                 -1, 0) != window)
            die("mmap", errno);
    }
    atomic_store(&finished, true);
}

static void *map_body(void *number)
{
    if (number)
        return map_user(number);
    map_changer();
    return NULL;
}

static int run_map(void)
{
    struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_NODEFER};

    sigaction(SIGSEGV, &action, NULL);
    window = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    run_all(map_body);
    printf("map: %s\n", thread_count == 1 || atomic_load(&faults) ? "faults seen" : "no fault");
    return 0;
}

/* ---- many: more threads, one after the other, than there are CPUs ---- */

static void *nothing(void *number)
{
    return number;
}

static int run_many(void)
{
    for (uint64_t i = 0; i < rounds; i++) {
        void *result = NULL;
        int error = pthread_create(&ids[0], NULL, nothing, &ids[i % THREADS_MAX]);

        if (error)
            die("pthread_create", error);
        pthread_join(ids[0], &result);
        if (result != &ids[i % THREADS_MAX])
            die("a thread's result", EIO);
    }
    printf("many: %llu threads\n", (unsigned long long)rounds);
    return 0;
}

/* ---- signals between threads ---- */

static _Atomic uint32_t got;
static _Atomic uint32_t ready;

static void on_signal(int /* signal */)
{
    atomic_fetch_add(&got, 1);
}

/* The odd ones spin, the even ones sleep. */
static void *signal_body(void *number)
{
    if (!number) {
        while (atomic_load(&ready) != thread_count - 1)
            sched_yield();
        for (unsigned i = 1; i < thread_count; i++)
            pthread_kill(ids[i], SIGUSR1);
        return NULL;
    }
    atomic_fetch_add(&ready, 1);
    while (!atomic_load(&got) || atomic_load(&got) < thread_count - 1)
        if ((uintptr_t)number % 2 == 0)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return NULL;
}

static int run_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};

    sigaction(SIGUSR1, &action, NULL);
    run_all(signal_body);
    printf("signals: %u\n", atomic_load(&got));
    return 0;
}

/* ---- robust: a mutex whose owner ended ---- */

static pthread_mutex_t robust;

static void *robust_body(void *number)
{
    pthread_mutex_lock(&robust);
    return number;
}

static int run_robust(void)
{
    pthread_mutexattr_t attributes;

    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &attributes);
    pthread_create(&ids[1], NULL, robust_body, NULL);
    pthread_join(ids[1], NULL);
    int error = pthread_mutex_lock(&robust);
    printf("robust: %s\n", error == EOWNERDEAD ? "owner died" : strerror(error));
    return 0;
}

/* ---- wait: waits that time out ---- */

static int run_wait(void)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 2000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_mutex_lock(&mutex);
    int error = pthread_cond_timedwait(&turned, &mutex, &until);
    printf("wait: %s\n", error == ETIMEDOUT ? "timed out" : strerror(error));
    return 0;
}

/* ---- ways to end ---- */

static void *spin_for_ever(void *number)
{
    atomic_fetch_add(&ready, 1);
    for (;;)
        __asm__ volatile("pause");
    return number;
}

static void start_spinners(void)
{
    for (unsigned i = 1; i < thread_count; i++)
        if (pthread_create(&ids[i], NULL, spin_for_ever, NULL))
            die("pthread_create", EAGAIN);
    while (atomic_load(&ready) < thread_count - 1)
        __asm__ volatile("pause");
}

static int run_exit(void)
{
    start_spinners();
    printf("exit: while %u spin\n", thread_count - 1);
    fflush(stdout);
    exit(7);
}

/* ---- one thread computes, the others write ---- */

static void *beside_body(void *number)
{
    if (number)
        threads_loop(rounds * 100000);
    else
        for (uint64_t i = 0; i < rounds; i++)
            dprintf(1, "beside: line %llu\n", (unsigned long long)i);
    return NULL;
}

static void *compute_body(void *)
{
    threads_loop(rounds * 100000);
    return NULL;
}

/* No thread's memory is given back at the end: none is joined, and the first ends the program. */
static int run_compute(void)
{
    for (unsigned i = 1; i < thread_count; i++)
        pthread_create(&ids[i], NULL, spin_for_ever, NULL);
    compute_body(NULL);
    exit(0);
}

static int run_beside(void)
{
    run_all(beside_body);
    return 0;
}

/* One waits for input that never comes, the other one writes and ends the program. */
static void *input_body(void *number)
{
    char byte;

    atomic_fetch_add(&ready, 1);
    if (read(0, &byte, 1) == 1)
        puts("input: there was some");
    return number;
}

static int run_input(void)
{
    pthread_create(&ids[1], NULL, input_body, NULL);
    while (!atomic_load(&ready))
        sched_yield();
    for (uint64_t i = 0; i < rounds; i++)
        printf("input: line %llu\n", (unsigned long long)i);
    return 3;
}

static void *crash_body(void *number)
{
    *(volatile int *)0 = 1;
    return number;
}

static int run_crash(void)
{
    thread_count--;
    start_spinners();
    pthread_create(&ids[thread_count], NULL, crash_body, NULL);
    pthread_join(ids[thread_count], NULL);
    return 0;
}

/* The first thread leaves, the last one ends the program. */
static void *last_body(void *first)
{
    pthread_join(*(pthread_t *)first, NULL);
    puts("leave: the last one");
    return NULL;
}

static int run_leave(void)
{
    static pthread_t first;

    first = pthread_self();
    pthread_create(&ids[1], NULL, last_body, &first);
    pthread_exit(NULL);
}

/* All threads wait for a mutex that is never given back. */
static void *stuck_body(void *number)
{
    pthread_mutex_lock(&mutex);
    return number;
}

static int run_stuck(void)
{
    pthread_mutex_lock(&mutex);
    run_all(stuck_body);
    return 0;
}

static const struct {
    const char *name;
    int (*run)(void);
} modes[] = {
    {"count", run_count},   {"sync", run_sync},     {"pingpong", run_pingpong},
    {"map", run_map},       {"many", run_many},     {"signals", run_signals},
    {"robust", run_robust}, {"wait", run_wait},     {"exit", run_exit},
    {"crash", run_crash},   {"leave", run_leave},   {"stuck", run_stuck},
    {"input", run_input},   {"beside", run_beside}, {"compute", run_compute},
};

int main(int argc, char **argv)
{
    thread_count = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    rounds = argc > 3 ? strtoull(argv[3], NULL, 10) : 1000;
    for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++)
        if (strcmp(argv[1], modes[i].name) == 0 && thread_count >= 1 && rounds >= 1 &&
            thread_count <= THREADS_MAX)
            return modes[i].run();
    fputs("usage: threads MODE [THREADS [ROUNDS]]; MODE is one of", stderr);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        fprintf(stderr, " %s", modes[i].name);
    fputs("\n", stderr);
    return 2;
}
