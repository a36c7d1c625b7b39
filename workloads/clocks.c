/* clocks: uses every clock and every kind of timer; its output is equal natively and here. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_SECOND 1000000000ll
#define MS 1000000ll

static volatile sig_atomic_t ticks; /* signals that came */
static volatile int last_code, last_value, last_overrun;
static int out_of_pipe[2];

static int64_t now_ns(clockid_t clock)
{
    struct timespec t;

    return clock_gettime(clock, &t) == 0 ? t.tv_sec * NS_PER_SECOND + t.tv_nsec : -errno;
}

static struct timespec of_ns(int64_t ns)
{
    return (struct timespec){ns / NS_PER_SECOND, ns % NS_PER_SECOND};
}

static void tick(int /* signal */, siginfo_t *info, void *)
{
    ticks = ticks + 1;
    last_code = info->si_code;
    last_value = info->si_code == SI_TIMER ? info->si_value.sival_int : 0;
    last_overrun = info->si_code == SI_TIMER ? info->si_overrun : 0;
}

static void handle(int signal, int flags)
{
    struct sigaction action = {.sa_sigaction = tick, .sa_flags = SA_SIGINFO | flags};

    sigaction(signal, &action, NULL);
}

static void test_clocks(void)
{
    clockid_t own, thread;
    struct timespec resolution;

    for (clockid_t clock = 0; clock < 14; clock++) {
        if (clock == CLOCK_REALTIME_ALARM || clock == CLOCK_BOOTTIME_ALARM)
            continue; /* Linux has them where there is a clock with a battery */
        int64_t first = now_ns(clock), second = now_ns(clock);
        int found = clock_getres(clock, &resolution);

        printf("clock %d: %s, resolution %ld\n", clock,
               first < 0                      ? "none"
               : first > 0 && second >= first ? "runs"
                                              : "stands",
               found ? -(long)errno : resolution.tv_nsec);
    }
    clock_getcpuclockid(0, &own);
    printf("own clock: %d", now_ns(own) > 0);
    clock_getcpuclockid(getpid(), &own);
    printf(" %d", now_ns(own) > 0);
    pthread_getcpuclockid(pthread_self(), &thread);
    printf(" %d", now_ns(thread) > 0 && now_ns(thread) <= now_ns(own));
    printf(" %d\n", (int)now_ns((clockid_t)(~999999999u << 3) | 2));
    int64_t before = 0, wrong = 0;
    for (int i = 0; i < 10000; i++) { /* the vDSO and the kernel agree */
        struct timespec t;
        int64_t now;

        if (i % 3)
            clock_gettime(CLOCK_MONOTONIC, &t);
        else
            syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
        now = t.tv_sec * NS_PER_SECOND + t.tv_nsec;
        wrong += now < before;
        before = now;
    }
    printf("backwards: %d\n", (int)wrong);
    struct timeval day;
    gettimeofday(&day, NULL);
    int64_t apart = time(NULL) - day.tv_sec;
    printf("time of day: %d %d\n", apart >= 0 && apart <= 1,
           now_ns(CLOCK_REALTIME) / NS_PER_SECOND - day.tv_sec <= 1);
}

static int sleep_error(clockid_t clock, int flags, int64_t ns)
{
    struct timespec t = of_ns(ns);

    return clock_nanosleep(clock, flags, &t, NULL);
}

static void test_sleep(void)
{
    struct timespec bad = {0, NS_PER_SECOND}, none = {0, 0};
    int64_t start = now_ns(CLOCK_MONOTONIC);

    printf("sleep: %d", sleep_error(CLOCK_MONOTONIC, 0, 2 * MS));
    printf(" %d", sleep_error(CLOCK_MONOTONIC, TIMER_ABSTIME, start + 4 * MS));
    printf(" %d", sleep_error(CLOCK_REALTIME, TIMER_ABSTIME, now_ns(CLOCK_REALTIME) + 2 * MS));
    printf(" %d", now_ns(CLOCK_MONOTONIC) - start >= 6 * MS);
    printf(" %d %d", sleep_error(CLOCK_MONOTONIC, TIMER_ABSTIME, 1), nanosleep(&none, NULL));
    printf(" %d", nanosleep(&bad, NULL) < 0 ? errno : 0);
    printf(" %d %d %d %d\n",
           (int)-syscall(SYS_clock_nanosleep, CLOCK_THREAD_CPUTIME_ID, 0, &none, 0),
           sleep_error(CLOCK_MONOTONIC_RAW, 0, 1), sleep_error(77, 0, 1),
           sleep_error(CLOCK_BOOTTIME, 0, 1));
    struct timex look = {0};
    printf("adjtimex: %d\n", adjtimex(&look) >= 0 && look.time.tv_sec > 1000);
}

/* Do not use this in a native run as root. */
static void test_set(void)
{
    struct timex change = {.modes = ADJ_FREQUENCY};
    struct timespec t = {1, 0};

    printf("set: %d", clock_settime(CLOCK_REALTIME, &t) < 0 ? errno : 0);
    printf(" %d", clock_settime(CLOCK_MONOTONIC, &t) < 0 ? errno : 0);
    printf(" %d", settimeofday(&(struct timeval){1, 0}, NULL) < 0 ? errno : 0);
    printf(" %d\n", adjtimex(&change) < 0 ? errno : 0);
}

static void test_alarm(void)
{
    struct itimerval setting = {.it_value = {100, 500000}, .it_interval = {3, 7}}, old;

    handle(SIGALRM, 0);
    printf("alarm: %u", alarm(100));
    printf(" %u", alarm(0));
    printf(" %u", alarm(0));
    setitimer(ITIMER_REAL, &setting, NULL);
    getitimer(ITIMER_REAL, &old);
    printf(" %d %d %d", (int)old.it_interval.tv_sec, (int)old.it_interval.tv_usec,
           old.it_value.tv_sec == 100 && old.it_value.tv_usec <= 500000);
    printf(" %u", alarm(0));
    setting.it_value.tv_usec = 1000000;
    printf(" %d %d\n", setitimer(ITIMER_REAL, &setting, NULL) < 0 ? errno : 0,
           setitimer(3, &old, NULL) < 0 ? errno : 0);
    setting = (struct itimerval){.it_value = {0, 3000}, .it_interval = {0, 2000}};
    ticks = 0;
    int64_t start = now_ns(CLOCK_MONOTONIC);
    setitimer(ITIMER_REAL, &setting, NULL);
    while (ticks < 3)
        pause();
    printf("pauses: %d, code %d\n", now_ns(CLOCK_MONOTONIC) - start >= 7 * MS, last_code);
    ticks = 0;
    while (ticks < 3) /* while it computes */
        ;
    setting = (struct itimerval){0};
    setitimer(ITIMER_REAL, &setting, &old);
    printf("computing: %d, interval %d\n", (int)ticks >= 3, (int)old.it_interval.tv_usec);
}

static void test_used(void)
{
    static const struct {
        int timer, signal;
        const char *name;
    } kinds[] = {{ITIMER_VIRTUAL, SIGVTALRM, "virtual"}, {ITIMER_PROF, SIGPROF, "prof"}};
    const struct itimerval soon = {.it_value = {0, 20000}};
    struct itimerval left;

    for (size_t i = 0; i < 2; i++) {
        ticks = 0;
        handle(kinds[i].signal, 0);
        setitimer(kinds[i].timer, &soon, NULL);
        usleep(30000); /* uses none */
        getitimer(kinds[i].timer, &left);
        printf("%s: slept %d, %d left", kinds[i].name, (int)ticks, left.it_value.tv_usec > 10000);
        while (!ticks)
            ;
        puts(", used");
    }
    struct rusage self, thread;
    volatile char *fresh = malloc(1 << 20); /* a page fault at least */
    if (fresh)
        fresh[1 << 19] = 1;
    struct tms use;
    getrusage(RUSAGE_SELF, &self);
    getrusage(RUSAGE_THREAD, &thread);
    times(&use);
    printf("usage: %d %d %d %d %d\n",
           self.ru_utime.tv_sec * 1000000 + self.ru_utime.tv_usec + self.ru_stime.tv_usec >= 30000,
           thread.ru_utime.tv_usec + thread.ru_stime.tv_usec > 0, self.ru_maxrss > 100,
           self.ru_minflt > 0, self.ru_nvcsw > 0);
    printf("times: %d\n", use.tms_utime + use.tms_stime >= 3);
}

static void start_timer(timer_t timer, int64_t value, int64_t interval, int flags)
{
    const struct itimerspec setting = {.it_value = of_ns(value), .it_interval = of_ns(interval)};

    if (timer_settime(timer, flags, &setting, NULL) < 0)
        printf("timer_settime: %d\n", errno);
}

static timer_t new_timer(clockid_t clock, int notify, int value)
{
    struct sigevent event = {
        .sigev_notify = notify, .sigev_signo = SIGRTMIN, .sigev_value.sival_int = value};
    timer_t timer = 0;

    if (timer_create(clock, &event, &timer) < 0)
        printf("timer_create: %d\n", errno);
    return timer;
}

static void test_timers(void)
{
    timer_t a = new_timer(CLOCK_MONOTONIC, SIGEV_SIGNAL, 11),
            quiet = new_timer(CLOCK_REALTIME, SIGEV_NONE, 0);
    struct itimerspec left;
    sigset_t set, old;

    handle(SIGRTMIN, 0);
    ticks = 0;
    start_timer(a, 2 * MS, 0, 0);
    while (!ticks)
        pause();
    printf("timer: code %d value %d overrun %d\n", last_code, last_value, last_overrun);
    timer_gettime(a, &left);
    printf("over: %d\n", left.it_value.tv_sec == 0 && left.it_value.tv_nsec == 0);
    start_timer(quiet, 3000 * NS_PER_SECOND, 0, 0);
    timer_gettime(quiet, &left);
    printf("quiet: %d\n", left.it_value.tv_sec >= 2999 && left.it_value.tv_sec <= 3000);

    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &set, &old);
    ticks = 0;
    start_timer(a, MS, MS, 0);
    usleep(10500);
    sigprocmask(SIG_SETMASK, &old, NULL);
    int overrun = last_overrun;
    start_timer(a, 0, 0, 0);
    printf("overrun: %d %d\n", overrun >= 8, ticks >= 1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    start_timer(a, now_ns(CLOCK_MONOTONIC) + MS, 0, TIMER_ABSTIME);
    siginfo_t info;
    struct timespec limit = {5, 0};
    int got = sigtimedwait(&set, &info, &limit);
    printf("sigtimedwait: %d %d\n", got == SIGRTMIN, info.si_code);
    sigprocmask(SIG_SETMASK, &old, NULL);
    timer_t used = new_timer(CLOCK_PROCESS_CPUTIME_ID, SIGEV_SIGNAL, 12);
    ticks = 0;
    start_timer(used, 5 * MS, 0, 0);
    while (!ticks)
        ;
    printf("used: value %d\n", last_value);
    printf("errors: %d", timer_delete(a) < 0 ? errno : 0);
    printf(" %d", (int)syscall(SYS_timer_delete, 12345) < 0 ? errno : 0);
    printf(" %d\n", (int)syscall(SYS_timer_gettime, 12345, &left) < 0 ? errno : 0);
    timer_delete(quiet);
    timer_delete(used);
}

static void feed(int /* signal */)
{
    if (write(out_of_pipe[1], "x", 1) != 1)
        abort();
}

/* Prints what a call does when SIGALRM comes after a millisecond. */
static void interrupt(const char *name, int flags, int64_t (*call)(void))
{
    struct sigaction action = {.sa_handler = feed, .sa_flags = flags};
    const struct itimerval soon = {.it_value = {0, 1000}};
    char byte;

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
    int64_t result = call();
    printf("%s%s: %d\n", name, flags ? " with SA_RESTART" : "", result < 0 ? -errno : (int)result);
    struct pollfd waiting = {out_of_pipe[0], POLLIN, 0};
    if (poll(&waiting, 1, 0) == 1 && read(out_of_pipe[0], &byte, 1) != 1)
        abort();
}

static int64_t call_read(void)
{
    char byte;

    return read(out_of_pipe[0], &byte, 1);
}

static int64_t call_poll(void)
{
    return poll(NULL, 0, 5000);
}

static int64_t call_select(void)
{
    struct timeval limit = {5, 0};

    return select(0, NULL, NULL, NULL, &limit);
}

static int64_t call_sleep(void)
{
    struct timespec t = {5, 0}, left = {0, 0};
    int result = nanosleep(&t, &left);

    if (left.tv_sec != 4)
        puts("nothing left");
    return result;
}

static int64_t call_pause(void)
{
    return pause();
}

static void test_interrupted(void)
{
    static const struct {
        const char *name;
        int64_t (*call)(void);
    } calls[] = {{"read", call_read},
                 {"poll", call_poll},
                 {"select", call_select},
                 {"nanosleep", call_sleep},
                 {"pause", call_pause}};

    if (pipe(out_of_pipe) < 0)
        abort();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        interrupt(calls[i].name, 0, calls[i].call);
        interrupt(calls[i].name, SA_RESTART, calls[i].call);
    }
}

/* The least number of instructions that reading the clock takes, where one is one nanosecond. */
static void test_cost(void)
{
    int64_t least = INT64_MAX;

    for (int i = 0; i < 100; i++) {
        struct timespec a, b;

        clock_gettime(CLOCK_MONOTONIC, &a);
        clock_gettime(CLOCK_MONOTONIC, &b);
        int64_t apart = (b.tv_sec - a.tv_sec) * NS_PER_SECOND + b.tv_nsec - a.tv_nsec;
        least = apart < least ? apart : least;
    }
    printf("clock_gettime: %d\n", (int)least);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 1 && strcmp(argv[1], "set") == 0) {
        test_set();
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "cost") == 0) {
        test_cost();
        return 0;
    }
    test_clocks();
    test_sleep();
    test_alarm();
    test_used();
    test_timers();
    test_interrupted();
    return 0;
}
