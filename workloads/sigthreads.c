/* sigthreads: signals of a process with threads; its output is equal natively and here. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000l

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t count;
static volatile long taker; /* the thread that handled the last signal */
static volatile long waiter; /* the thread that is about to wait */
static int out_of_pipe[2];

static void take(int /* signal */)
{
    count = count + 1;
    taker = syscall(SYS_gettid);
}

static void handle(int flags)
{
    struct sigaction action = {.sa_handler = take, .sa_flags = flags};

    sigaction(SIGUSR1, &action, NULL);
}

static void rest(long ms)
{
    const struct timespec t = {ms / 1000, ms % 1000 * MS};

    clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

/* Waits until a thread sleeps: on a busy machine it may take long to get so far. */
static void await_sleep(long tid)
{
    char path[64], text[128];
    const char *state = "";

    snprintf(path, sizeof path, "/proc/self/task/%ld/stat", tid);
    do {
        rest(20);
        int file = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t got = file < 0 ? -1 : read(file, text, sizeof text - 1);

        if (file >= 0)
            close(file);
        if (got <= 0)
            return;
        text[got] = 0;
        state = strstr(text, ") ");
    } while (state != NULL && state[2] != 'S');
}

static void mask(int how)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(how, &set, NULL);
}

static pthread_t start(void *(*run)(void *))
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, run, NULL) != 0)
        abort();
    return thread;
}

/* Takes the signals of the process that every thread blocked. */
static void *unblock(void *)
{
    rest(20);
    printf("while all block it: %d\n", (int)count);
    mask(SIG_UNBLOCK);
    printf("handed on: %d, to this thread %d\n", (int)count, taker == syscall(SYS_gettid));
    return NULL;
}

static void *wait_for_it(void *)
{
    sigset_t set;
    int signal = 0;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigwait(&set, &signal);
    printf("sigwait: %d\n", signal == SIGUSR2);
    return NULL;
}

static void test_process_wide(void)
{
    mask(SIG_BLOCK);
    handle(0);
    pthread_t thread = start(unblock);
    kill(getpid(), SIGUSR1);
    pthread_join(thread, NULL);
    thread = start(wait_for_it);
    rest(20);
    kill(getpid(), SIGUSR2);
    pthread_join(thread, NULL);
    mask(SIG_UNBLOCK);
}

static void *take_lock(void *)
{
    waiter = syscall(SYS_gettid);
    pthread_mutex_lock(&lock);
    puts("locked after all");
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *read_pipe(void *)
{
    char bytes[8];

    waiter = syscall(SYS_gettid);
    ssize_t got = read(out_of_pipe[0], bytes, sizeof bytes);

    printf("read: %d\n", got < 0 ? -errno : (int)got);
    return NULL;
}

/* Sends a signal to a thread that waits. */
static void interrupt(pthread_t thread)
{
    count = 0;
    while (waiter == 0)
        rest(1);
    await_sleep(waiter);
    waiter = 0;
    pthread_kill(thread, SIGUSR1);
    do
        rest(20);
    while (count == 0);
    printf("handled: %d\n", (int)count);
}

static void test_waits(void)
{
    pthread_mutex_lock(&lock);
    pthread_t thread = start(take_lock);
    interrupt(thread);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    if (pipe(out_of_pipe) < 0)
        abort();
    thread = start(read_pipe);
    interrupt(thread);
    pthread_join(thread, NULL);
    handle(SA_RESTART);
    thread = start(read_pipe);
    interrupt(thread);
    if (write(out_of_pipe[1], "abc", 3) != 3)
        abort();
    pthread_join(thread, NULL);
}

static void *kill_process(void *signal)
{
    await_sleep(getpid()); /* the thread that made this one */
    kill(getpid(), (int)(intptr_t)signal);
    rest(5);
    return NULL;
}

static void *kill_and_go_on(void *unused)
{
    kill_process((void *)SIGTERM);
    puts("still alive");
    return unused;
}

static void *sleep_for_ever(void *unused)
{
    const struct timespec ages = {INT64_MAX, 0};

    mask(SIG_BLOCK);
    nanosleep(&ages, NULL);
    return unused;
}

/* The first thread takes a signal of the process, though the one that sent it could, too; a third
 * one sleeps longer than any run. */
static void test_first(void)
{
    pthread_t thread;
    long first = syscall(SYS_gettid);
    int result;

    start(sleep_for_ever);
    handle(SA_RESTART);
    count = 0;
    if (pthread_create(&thread, NULL, kill_process, (void *)SIGUSR1) != 0)
        abort();
    result = poll(NULL, 0, 10000);
    printf("poll: %d, handled %d, by the first: %d\n", result < 0 ? -errno : result, (int)count,
           taker == first);
    pthread_join(thread, NULL);
}

static int signal_file;

static void *change_file(void *unused)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    rest(20);
    signalfd(signal_file, &set, 0);
    rest(20);
    kill(getpid(), SIGUSR2);
    return unused;
}

/* A reader of a signalfd learns that it is for other signals now. */
static void test_signal_file(void)
{
    struct signalfd_siginfo info = {0};
    pthread_t thread;
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    mask(SIG_BLOCK);
    signal_file = signalfd(-1, &set, 0);
    thread = start(change_file);
    if (read(signal_file, &info, sizeof info) != sizeof info)
        abort();
    printf("signalfd: %d\n", (int)info.ssi_signo);
    pthread_join(thread, NULL);
    mask(SIG_UNBLOCK);
}

/* A timer whose signal is pending when it becomes ignored continues. */
static void test_timer_ignored(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    const struct itimerspec often = {{0, MS}, {0, MS}};
    timer_t timer;

    mask(SIG_BLOCK);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) < 0 ||
        timer_settime(timer, 0, &often, NULL) < 0)
        abort();
    rest(5);
    signal(SIGUSR1, SIG_IGN);
    handle(SA_RESTART);
    count = 0;
    mask(SIG_UNBLOCK);
    while (count < 3)
        rest(5);
    timer_delete(timer);
    printf("timer: goes on\n");
}

static void called(union sigval value)
{
    printf("thread of a timer: %d\n", value.sival_int);
    count = 100;
}

static void test_timer_thread(void)
{
    struct sigevent event = {
        .sigev_notify = SIGEV_THREAD, .sigev_notify_function = called, .sigev_value.sival_int = 5};
    const struct itimerspec soon = {.it_value = {0, MS}};
    timer_t timer;

    if (timer_create(CLOCK_MONOTONIC, &event, &timer) < 0 ||
        timer_settime(timer, 0, &soon, NULL) < 0)
        abort();
    while (count != 100)
        rest(5);
    timer_delete(timer);
}

static void *lose_stack(void *)
{
    __asm__ volatile("xor %%esp, %%esp; push %%rax" ::: "memory");
    return NULL;
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 1 && strcmp(argv[1], "stack") == 0) {
        pthread_join(start(lose_stack), NULL);
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "die") == 0) {
        pthread_join(start(kill_and_go_on), NULL);
        return 0;
    }
    if (argc > 1 &&
        strcmp(argv[1], "input") == 0) { /* a signal ends the read, the next one works */
        char byte = 0;

        struct sigaction action = {.sa_handler = take};
        sigaction(SIGALRM, &action, NULL);
        alarm(1);
        ssize_t got = read(0, &byte, 1);
        printf("read: %d, handled %d\n", got < 0 ? -errno : (int)got, (int)count);
        return 0;
    }
    test_process_wide();
    test_waits();
    test_first();
    test_signal_file();
    test_timer_ignored();
    test_timer_thread();
    return 0;
}
