/* execs_threads: executes itself from one of many threads; equal natively. */

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>

#include <dirent.h>

#include "workloads/execs.h"

static char self[PATH_MAX];
static int pipes[2], full[2];
static volatile int ready, word;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t together;

static void go(const char *step)
{
    char number[32], pid[32];

    snprintf(number, sizeof number, "STEP=%s", step);
    snprintf(pid, sizeof pid, "PID=%d", getpid());
    fflush(stdout);
    execve(self, (char *[]){self, NULL}, (char *[]){number, pid, NULL});
    execs_check("execve", false);
    exit(1);
}

static void *in_futex(void *)
{
    __atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &word, 0 /* FUTEX_WAIT */, 0, NULL, NULL, 0);
    execs_check("a futex wakes", false);
    return NULL;
}

static void *in_read(void *)
{
    char byte;

    __atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
    if (read(pipes[0], &byte, 1))
        execs_check("a read ends", false);
    return NULL;
}

static void *in_sleep(void *)
{
    __atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
    nanosleep(&(struct timespec){.tv_sec = 1000000}, NULL);
    return NULL;
}

static void *in_loop(void *)
{
    __atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
    for (;;)
        word = 0;
    return NULL;
}

static void *in_mutex(void *)
{
    __atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_lock(&mutex);
    return NULL;
}

static void *in_epoll(void *)
{
    struct epoll_event event;
    int file = epoll_create1(0);

    __atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
    epoll_wait(file, &event, 1, -1);
    return NULL;
}

/* Writes to a full pipe. */
static void *in_write(void *)
{
    static char bytes[1 << 20];

    __atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
    if (write(full[1], bytes, sizeof bytes) == (ssize_t)sizeof bytes)
        execs_check("a write ends", false);
    return NULL;
}

static void *in_exec(void *step)
{
    while (__atomic_load_n(&ready, __ATOMIC_SEQ_CST) < 8)
        sched_yield();
    go(step);
    return NULL;
}

static void start(void *(*routine)(void *), void *argument)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, routine, argument) != 0)
        execs_check("pthread_create", false);
}

/* Another thread executes, while this one waits for ever. */
static void begin(void)
{
    void *(*const routines[])(void *) = {in_futex, in_read,  in_sleep, in_loop,
                                         in_mutex, in_epoll, in_write, in_loop};

    execs_check("pipe", pipe(pipes) == 0 && pipe(full) == 0);
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < 8; i++)
        start(routines[i], NULL);
    start(in_exec, "1");
    for (;;)
        pause();
}

static int count_tasks(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int count = -2;

    while (tasks != NULL && readdir(tasks) != NULL)
        count++;
    closedir(tasks);
    return count;
}

static void check_alone(const char *what)
{
    const char *pid = getenv("PID");

    printf("%s: %d task\n", what, count_tasks());
    execs_check("the process is the same", pid != NULL && getpid() == atoi(pid));
    execs_check("this is its first thread", syscall(SYS_gettid) == getpid());
}

/* The first thread has ended before. */
static void first_gone(void)
{
    check_alone("from a thread");
    ready = 8;
    start(in_exec, "2");
    pthread_exit(NULL);
}

static void *in_race(void *)
{
    pthread_barrier_wait(&together);
    go("3");
    return NULL;
}

/* All execute at once. */
static void race(void)
{
    check_alone("without the first thread");
    pthread_barrier_init(&together, NULL, 6);
    for (int i = 0; i < 5; i++)
        start(in_race, NULL);
    in_race(NULL);
}

static void *in_failure(void *)
{
    for (;;)
        execve("/missing", (char *[]){self, NULL}, (char *[]){NULL});
    return NULL;
}

/* One executes, others make threads and system calls that fail. */
static void *in_making(void *)
{
    for (int i = 0; i < 100; i++)
        start(in_mutex, NULL);
    return NULL;
}

static void busy(void)
{
    check_alone("of several");
    pthread_mutex_lock(&mutex);
    start(in_failure, NULL);
    start(in_making, NULL);
    while (ready < 20)
        sched_yield();
    go("4");
}

static void end(void)
{
    check_alone("of many");
}

int main(int, char **)
{
    static void (*const steps[])(void) = {begin, first_gone, race, busy, end};
    const char *step = getenv("STEP");

    execs_self(self);
    steps[step != NULL ? atoi(step) : 0]();
    return 0;
}
